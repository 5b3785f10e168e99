// What a commit of an Iceberg table costs apart from its data: metadata, manifest and manifest list
// on local disk, as a table ages. Items are commits.
#include <benchmark/benchmark.h>
#include <stdlib.h>

#include <filesystem>

#include "tests/doubles/iceberg_rig.h"

namespace driftless::iceberg {
namespace {

void CommitOnLocalDisk(benchmark::State& state) {
  char folder[] = "/tmp/driftless-bench-XXXXXX";
  if (mkdtemp(folder) == nullptr) {
    state.SkipWithError("no folder");
    return;
  }
  {
    auto store = OpenObjectStore(folder, {});
    if (!store) {
      state.SkipWithError("no store");
      return;
    }
    testing::IcebergRig::Shape shape;
    shape.properties = {{"history.expire.max-snapshot-age-ms", "3600000"},
                        {"history.expire.min-snapshots-to-keep", "10"}};
    testing::IcebergRig rig(*store, shape);
    for (int64_t i = 0; i < state.range(0); ++i) rig.CommitRandom(1, 1000);
    for (auto unused : state) {
      state.PauseTiming();
      const CommitToken token = rig.SealRandom(1, 1000);
      const IcebergCommitter committer = rig.Committer();
      state.ResumeTiming();
      if (!committer.Commit({&token, 1})) state.SkipWithError("the commit failed");
    }
    state.SetItemsProcessed(state.iterations());
  }
  std::filesystem::remove_all(folder);
}
// Commits that the table has already.
BENCHMARK(CommitOnLocalDisk)->Arg(0)->Arg(100)->Arg(1000)->Iterations(200)->UseRealTime();

}  // namespace
}  // namespace driftless::iceberg

BENCHMARK_MAIN();
