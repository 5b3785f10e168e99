#include <algorithm>
#include <utility>

#include "sinks/iceberg/options.h"
#include "sinks/iceberg/sink.h"
#include "sinks/iceberg/table_scan.h"
#include "sinks/lake/key_order.h"

namespace driftless::iceberg {
namespace {

class IcebergReader : public TableReader {
 public:
  explicit IcebergReader(std::unique_ptr<Catalog> catalog) : catalog_(std::move(catalog)) {}

  Result<SinkTable> Describe(const TablePath& path, const ReadRequest& request) override {
    DRIFTLESS_ASSIGN_OR_RETURN(const TableScan scan, Open(path, request));
    return ToSinkTable(scan.metadata(), scan.schema(), path);
  }

  // With a key, the rows are sorted in memory.
  Result<void> ReadRows(const TablePath& path, const ReadRequest& request,
                        const RowVisitor& visit) override {
    DRIFTLESS_ASSIGN_OR_RETURN(TableScan scan, Open(path, request));
    const SinkTable table = ToSinkTable(scan.metadata(), scan.schema(), path);
    std::vector<lake::MergedRow> sorted;
    const bool has_key = !table.primary_key.empty();
    ScannedRow row;
    for (int64_t rows = 0; has_key || request.limit < 0 || rows < request.limit; ++rows) {
      auto more = scan.Next(&row);
      if (!more) return std::move(more).error().Context("reading Iceberg table " + path.ToString());
      if (!*more) break;
      if (has_key) {
        sorted.push_back(row.row);
      } else if (!visit(table, Columns(table, row.row), row.row.row)) {
        return {};
      }
    }
    if (!has_key) return {};
    std::vector<int> columns;
    std::vector<LogicalType> types;
    for (const std::string& key : table.primary_key) {
      const SinkColumn* column = table.FindName(key);
      columns.push_back(static_cast<int>(column - table.columns.data()));
      types.push_back(column->type);
    }
    const lake::KeyOrder order(std::move(columns), std::move(types));
    std::ranges::stable_sort(sorted, [&](const lake::MergedRow& a, const lake::MergedRow& b) {
      return order.Compare(a.columns(), a.row, b.columns(), b.row) < 0;
    });
    int64_t rows = 0;
    for (const lake::MergedRow& one : sorted) {
      if (request.limit >= 0 && rows++ >= request.limit) break;
      if (!visit(table, Columns(table, one), one.row)) break;
    }
    return {};
  }

 private:
  // Equality deletes may have asked for further columns behind the table's.
  static std::span<const ColumnView> Columns(const SinkTable& table, const lake::MergedRow& row) {
    return row.columns().first(table.columns.size());
  }

  Result<TableScan> Open(const TablePath& path, const ReadRequest& request) const {
    DRIFTLESS_ASSIGN_OR_RETURN(std::optional<LoadedTable> loaded, catalog_->Load(path));
    if (!loaded) {
      return MakeError(ErrorKind::kNotFound, "there is no Iceberg table " + path.ToString());
    }
    return TableScan::Open(*std::move(loaded), request.snapshot);
  }

  std::unique_ptr<Catalog> catalog_;
};

}  // namespace
}  // namespace driftless::iceberg

namespace driftless {

Result<std::unique_ptr<TableReader>> MakeIcebergTableReader(const OptionValues& values,
                                                            const SinkEnvironment& environment) {
  DRIFTLESS_ASSIGN_OR_RETURN(const iceberg::IcebergOptions options,
                             iceberg::ReadIcebergOptions(values));
  const Clock* clock = environment.clock != nullptr ? environment.clock : SystemClock();
  DRIFTLESS_ASSIGN_OR_RETURN(auto catalog, iceberg::OpenCatalog(options, clock));
  return std::unique_ptr<TableReader>(std::make_unique<iceberg::IcebergReader>(std::move(catalog)));
}

}  // namespace driftless
