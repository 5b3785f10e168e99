#include "sinks/paimon/table_reader.h"

#include "sinks/paimon/catalog.h"
#include "sinks/paimon/table_scan.h"

namespace driftless::paimon {
namespace {

class PaimonReader : public TableReader {
 public:
  PaimonReader(std::shared_ptr<ObjectStore> warehouse, TimeZone zone)
      : warehouse_(std::move(warehouse)), zone_(std::move(zone)) {}

  Result<SinkTable> Describe(const TablePath& path, const ReadRequest& request) override {
    DRIFTLESS_ASSIGN_OR_RETURN(const TableScan scan, Open(path, request));
    return ToSinkTable(scan.schema(), path);
  }

  Result<void> ReadRows(const TablePath& path, const ReadRequest& request,
                        const RowVisitor& visit) override {
    DRIFTLESS_ASSIGN_OR_RETURN(TableScan scan, Open(path, request));
    const SinkTable table = ToSinkTable(scan.schema(), path);
    lake::MergedRow row;
    for (int64_t rows = 0; request.limit < 0 || rows < request.limit; ++rows) {
      auto more = scan.Next(&row);
      if (!more) return std::move(more).error().Context("reading Paimon table " + path.ToString());
      if (!*more || !visit(table, row.columns(), row.row)) break;
    }
    return {};
  }

 private:
  Result<TableScan> Open(const TablePath& path, const ReadRequest& request) const {
    auto scan =
        TableScan::Open(PaimonTable(warehouse_, TableDirectory(path)), request.snapshot, zone_);
    if (!scan) return std::move(scan).error().Context("reading Paimon table " + path.ToString());
    return scan;
  }

  std::shared_ptr<ObjectStore> warehouse_;
  TimeZone zone_;
};

}  // namespace

Result<std::unique_ptr<TableReader>> MakePaimonReader(std::shared_ptr<ObjectStore> warehouse,
                                                      const std::string& local_time_zone) {
  TimeZone zone;
  if (!local_time_zone.empty()) {
    DRIFTLESS_ASSIGN_OR_RETURN(zone, TimeZone::Load(local_time_zone));
  }
  return std::unique_ptr<TableReader>(
      std::make_unique<PaimonReader>(std::move(warehouse), std::move(zone)));
}

}  // namespace driftless::paimon
