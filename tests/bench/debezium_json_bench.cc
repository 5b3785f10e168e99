// Debezium JSON to nothing: reading, splitting, decoding and sealing on one core. Prints changes
// per CPU-second. Input: recordings, unpacked to a file of their own and repeated.
#include <benchmark/benchmark.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "pipeline/sources/file/byte_stream.h"
#include "pipeline/sources/file/file_source.h"
#include "schema/base/check.h"
#include "tests/doubles/source_dir.h"

namespace driftless {
namespace {

class Blackhole : public SourceOutput {
 public:
  bool Changes(ChangeBatchPtr batch) override {
    changes += batch->size();
    return true;
  }
  bool Schema(StatementChangePtr, std::string) override { return true; }
  bool Progress(const Point&, std::string, int64_t) override { return true; }
  bool DeadLetter(const Point&, std::string, std::string_view, const Error&) override {
    return true;
  }
  bool stopping() const override { return false; }

  int64_t changes = 0;
};

// A recording, unpacked and repeated, so that a run is long enough to measure.
class Unpacked {
 public:
  Unpacked(const std::string& recording, int times)
      : path_(std::filesystem::temp_directory_path() /
              ("driftless_bench_" + std::to_string(::getpid()) + ".jsonl")) {
    std::ofstream out(path_, std::ios::binary);
    std::string buffer(1 << 20, '\0');
    for (int i = 0; i < times; ++i) {
      auto stream = ByteStream::Open(SourceDir() + "/tests/data/debezium-json/" + recording);
      DRIFTLESS_CHECK(stream.has_value());
      for (;;) {
        const auto got = (*stream)->Read(buffer.data(), buffer.size());
        DRIFTLESS_CHECK(got.has_value());
        if (*got == 0) break;
        out.write(buffer.data(), static_cast<std::streamsize>(*got));
      }
    }
  }
  ~Unpacked() { std::filesystem::remove(path_); }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

void Run(benchmark::State& state, const std::string& recording, int times, bool before_images) {
  const Unpacked file(recording, times);
  const auto bytes = static_cast<int64_t>(std::filesystem::file_size(file.path()));
  int64_t changes = 0;
  for (auto _ : state) {
    FileSourceOptions options;
    options.patterns = {file.path()};
    FileSource source(options);
    SourceContext context;
    context.wants_before_images = before_images;
    DRIFTLESS_CHECK(source.Connect(context).has_value());
    Blackhole out;
    const auto result = source.Run(0, 0, {}, &out);
    if (!result) {
      state.SkipWithError(result.error().ToString().c_str());
      return;
    }
    changes += out.changes;
  }
  state.SetItemsProcessed(changes);
  state.SetBytesProcessed(bytes * static_cast<int64_t>(state.iterations()));
  state.counters["bytes_per_change"] = static_cast<double>(bytes) *
                                       static_cast<double>(state.iterations()) /
                                       static_cast<double>(changes);
}

void BM_Workload(benchmark::State& state) {
  Run(state, "mysql-9.7/w_shop50k.plain.jsonl.gz", 4, /*before_images=*/false);
}
void BM_WorkloadWithBeforeImages(benchmark::State& state) {
  Run(state, "mysql-9.7/w_shop50k.plain.jsonl.gz", 4, /*before_images=*/true);
}
void BM_Transactions(benchmark::State& state) {
  Run(state, "mysql-9.7/b_txn.plain.jsonl.gz", 4, /*before_images=*/false);
}
void BM_EmbeddedSchemas(benchmark::State& state) {
  Run(state, "mysql-9.7/c_osc.schema.jsonl.gz", 1, /*before_images=*/false);
}
BENCHMARK(BM_Workload)->Unit(benchmark::kMillisecond);
BENCHMARK(BM_WorkloadWithBeforeImages)->Unit(benchmark::kMillisecond);
BENCHMARK(BM_Transactions)->Unit(benchmark::kMillisecond);
BENCHMARK(BM_EmbeddedSchemas)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace driftless

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
