// gloo times gloo's all-reduces the way `ringtrain bench allreduce` times
// ringtrain's, in place: buffers of a batch are filled, the ranks meet at a
// barrier, the batch is summed back to back, the ranks meet again, and every
// element is checked. Only the sums are timed.
//
//	gloo RANK RANKS FOLDER ADDR BUDGET_MS BATCH_BYTES BYTES …
//
// FOLDER is where the ranks meet, fresh for each run; ADDR is this rank's own.
// Rank 0 prints one line for each size and each way that gloo has to do it: way,
// bytes, median in microseconds (of the slowest rank), and elements that are
// wrong.

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include <unistd.h>

#include "gloo/allreduce.h"
#include "gloo/allreduce_halving_doubling.h"
#include "gloo/allreduce_ring_chunked.h"
#include "gloo/barrier.h"
#include "gloo/math.h"
#include "gloo/rendezvous/context.h"
#include "gloo/rendezvous/file_store.h"
#include "gloo/rendezvous/prefix_store.h"
#include "gloo/transport/tcp/device.h"

namespace {

constexpr size_t kBatchMost = 64;  // operations of a batch
constexpr size_t kTimesLeast = 3, kTimesMost = 1000;
constexpr int kRanksOfAllWays = 16;  // with more ranks this number of full meshes fails to connect
constexpr size_t kSyncMost = 8 << 20;  // bytes; above, neighbours block in write until gloo's timeout ends them
constexpr double kPatience = 4;  // in budgets: the time limit of a variant that is slower than its warm-up

using Buffers = std::vector<std::vector<float>>;
using Clock = std::chrono::steady_clock;

struct Job {
  int rank, ranks;
  double budget;  // microseconds per size and variant
  size_t elements;
  std::shared_ptr<gloo::Context> context, control;
};

// A Way is one of gloo's all-reduces, prepared for the buffers of a batch.
using Way = std::function<void(size_t buffer)>;

// element is the input of rank: small whole numbers, whose sums are exact.
float element(int rank, size_t i) { return static_cast<float>((i + 7 * rank) % 61); }

std::shared_ptr<gloo::Context> connect(const std::string& folder, const std::string& way, int rank, int ranks,
                                       std::shared_ptr<gloo::transport::Device> device) {
  auto context = std::make_shared<gloo::rendezvous::Context>(rank, ranks);
  gloo::rendezvous::FileStore files(folder);
  gloo::rendezvous::PrefixStore store(way, files);
  context->connectFullMesh(store, device);
  return context;
}

// ring is gloo's newer all-reduce with segments of the given size.
Way ring(const Job& job, Buffers& buffers, size_t segment) {
  return [&job, &buffers, segment](size_t b) {
    gloo::AllreduceOptions options(job.context);
    options.setAlgorithm(gloo::AllreduceOptions::Algorithm::RING);
    options.setOutput(buffers[b].data(), job.elements);
    options.setReduceFunction(static_cast<void (*)(void*, const void*, const void*, size_t)>(&gloo::sum<float>));
    options.setMaxSegmentSize(segment);
    gloo::allreduce(options);
  };
}

// registered is one of gloo's older all-reduces, with its registered buffers.
template <typename Algorithm>
Way registered(const Job& job, Buffers& buffers) {
  std::vector<std::shared_ptr<Algorithm>> algorithms;
  for (auto& buffer : buffers) {
    std::vector<float*> ptrs{buffer.data()};
    algorithms.push_back(std::make_shared<Algorithm>(job.context, ptrs, static_cast<int>(job.elements)));
  }
  return [algorithms](size_t b) { algorithms[b]->run(); };
}

// batch sums n buffers and returns the number of wrong elements.
size_t batch(const Job& job, const Way& way, Buffers& buffers, size_t n, std::vector<double>& micros) {
  auto meet = [&job] {
    gloo::BarrierOptions options(job.control);
    gloo::barrier(options);
  };
  for (size_t b = 0; b < n; b++) {
    for (size_t i = 0; i < job.elements; i++) buffers[b][i] = element(job.rank, i);
  }
  meet();
  for (size_t b = 0; b < n; b++) {
    const auto start = Clock::now();
    way(b);
    micros.push_back(std::chrono::duration<double, std::micro>(Clock::now() - start).count());
  }
  meet();
  size_t wrong = 0;
  for (size_t i = 0; i < job.elements; i++) {
    float want = 0;
    for (int r = 0; r < job.ranks; r++) want += element(r, i);
    for (size_t b = 0; b < n; b++) wrong += buffers[b][i] != want;
  }
  return wrong;
}

// overRanks replaces v by its largest value over the ranks, or by the sum.
template <typename T>
void overRanks(const std::shared_ptr<gloo::Context>& context, T& v, void (*fold)(void*, const void*, const void*, size_t)) {
  gloo::AllreduceOptions options(context);
  options.setOutput(&v, 1);
  options.setReduceFunction(fold);
  gloo::allreduce(options);
}

// slowest returns the largest value of any rank.
double slowest(const Job& job, double micros) {
  overRanks<double>(job.control, micros, &gloo::max<double>);
  return micros;
}

// median returns the median time of the slowest rank.
double median(const Job& job, std::vector<double>& micros) {
  std::sort(micros.begin(), micros.end());
  return slowest(job, micros[(micros.size() - 1) / 2]);
}

// measure runs one variant; rank 0 prints its line. The ranks synchronize and exchange
// results over control: sync mode accepts only registered buffers.
void measure(const Job& job, const char* name, const Way& way, Buffers& buffers) {
  std::vector<double> micros;
  uint64_t wrong = batch(job, way, buffers, std::min(kTimesLeast, buffers.size()), micros);  // warm-up
  const size_t n = std::max(kTimesLeast, std::min(kTimesMost, static_cast<size_t>(job.budget / (median(job, micros) + 1e-3))));
  micros.clear();
  while (micros.size() < n) {
    wrong += batch(job, way, buffers, std::min(buffers.size(), n - micros.size()), micros);
    const double spent = std::accumulate(micros.begin(), micros.end(), 0.0);
    if (micros.size() >= kTimesLeast && slowest(job, spent) > kPatience * job.budget) break;
  }
  const double m = median(job, micros);
  overRanks<uint64_t>(job.control, wrong, &gloo::sum<uint64_t>);
  if (job.rank == 0) {
    std::printf("%s %zu %.2f %llu\n", name, job.elements * sizeof(float), m, static_cast<unsigned long long>(wrong));
    std::fflush(stdout);
  }
}

// runRank measures all sizes in all variants: gloo's newer ring with segments of 1 MiB
// (its default) and of 256 KiB, and its older ones. These are the chunked ring,
// asynchronous and synchronous (the caller's thread reads and writes the sockets instead
// of the event loop; up to 8 MiB), and halving and doubling.
void runRank(Job job, const std::string& folder, const std::string& address, size_t batchBytes, const std::vector<size_t>& sizes) {
  gloo::transport::tcp::attr own;
  own.hostname = address;
  auto device = gloo::transport::tcp::CreateDevice(own);
  job.control = connect(folder, "control", job.rank, job.ranks, device);
  auto newer = connect(folder, "newer", job.rank, job.ranks, device);
  std::shared_ptr<gloo::Context> older, sync;
  if (job.ranks <= kRanksOfAllWays) {
    older = connect(folder, "older", job.rank, job.ranks, device);
    sync = connect(folder, "sync", job.rank, job.ranks, device);
    for (int peer = 0; peer < job.ranks; peer++) {
      if (peer != job.rank) sync->getPair(peer)->setSync(true, false);
    }
  }
  for (const size_t bytes : sizes) {
    job.elements = bytes / sizeof(float);
    const size_t count = std::max<size_t>(1, std::min(kBatchMost, batchBytes / bytes));
    Buffers buffers(count, std::vector<float>(job.elements));
    job.context = newer;
    measure(job, "ring-1MiB", ring(job, buffers, 1 << 20), buffers);
    measure(job, "ring-256KiB", ring(job, buffers, 256 << 10), buffers);
    if (job.ranks > kRanksOfAllWays) continue;
    job.context = older;
    measure(job, "ring-chunked", registered<gloo::AllreduceRingChunked<float>>(job, buffers), buffers);
    measure(job, "halving-doubling", registered<gloo::AllreduceHalvingDoubling<float>>(job, buffers), buffers);
    if (bytes > kSyncMost) continue;
    job.context = sync;
    measure(job, "ring-chunked-sync", registered<gloo::AllreduceRingChunked<float>>(job, buffers), buffers);
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 8) {
    std::fprintf(stderr, "usage: gloo RANK RANKS FOLDER ADDR BUDGET_MS BATCH_BYTES BYTES …\n");
    return 64;
  }
  std::vector<size_t> sizes;
  for (int i = 7; i < argc; i++) {
    const long long bytes = std::atoll(argv[i]);
    if (bytes < 4 || bytes > 1 << 30) {
      std::fprintf(stderr, "gloo: %s bytes, want 4 to 1 GiB\n", argv[i]);
      return 64;
    }
    sizes.push_back(static_cast<size_t>(bytes));
  }
  try {
    const Job job{std::atoi(argv[1]), std::atoi(argv[2]), std::atof(argv[5]) * 1e3, 0, nullptr, nullptr};
    runRank(job, argv[3], argv[4], std::strtoull(argv[6], nullptr, 10), sizes);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "gloo: rank %s: %s\n", argv[1], e.what());
    return 1;
  }
  std::fflush(stdout);
  _exit(0);  // peers may still use the mesh: its destructors would complain
}
