// gloo_ring times gloo's ring all-reduce among processes of this host, over
// TCP on loopback, the way `ringtrain bench allreduce` times ringtrain's:
// buffers of a batch are filled, the ranks meet at a barrier, the batch is
// summed back to back, the ranks meet again, and every element is checked. Only
// the sums are timed.
//
//	gloo_ring RANKS BYTES [ITERATIONS]
//
// It prints one line for each way that gloo has to do it: name, bytes, ranks,
// median in microseconds (of the slowest rank), and elements that are wrong.

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "gloo/allreduce.h"
#include "gloo/allreduce_ring_chunked.h"
#include "gloo/barrier.h"
#include "gloo/math.h"
#include "gloo/rendezvous/context.h"
#include "gloo/rendezvous/file_store.h"
#include "gloo/rendezvous/prefix_store.h"
#include "gloo/transport/tcp/device.h"

namespace {

constexpr size_t kBatchBytes = 16 << 20;  // as in bench/allreduce.go
constexpr size_t kBatchMost = 64;

using Buffers = std::vector<std::vector<float>>;
using Clock = std::chrono::steady_clock;

struct Job {
  int rank, ranks;
  size_t elements, iterations;
  std::shared_ptr<gloo::Context> context;
};

// A Way is one of gloo's all-reduces, made ready for the buffers of a batch.
using Way = std::function<void(size_t buffer)>;

// element is what rank puts in: small whole numbers, whose sums are exact.
float element(int rank, size_t i) { return static_cast<float>((i + 7 * rank) % 61); }

std::shared_ptr<gloo::Context> connect(const std::string& folder, const std::string& way, int rank, int ranks,
                                       std::shared_ptr<gloo::transport::Device> device) {
  auto context = std::make_shared<gloo::rendezvous::Context>(rank, ranks);
  gloo::rendezvous::FileStore files(folder);
  gloo::rendezvous::PrefixStore store(way, files);
  context->connectFullMesh(store, device);
  return context;
}

// ring is gloo's newer all-reduce, cut into segments of so many bytes.
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

// ringChunked is gloo's older all-reduce, with its registered buffers. In sync
// mode the caller's thread reads and writes the sockets, not the event loop's.
Way ringChunked(const Job& job, Buffers& buffers, bool sync) {
  for (int peer = 0; sync && peer < job.ranks; peer++) {
    if (peer != job.rank) job.context->getPair(peer)->setSync(true, false);
  }
  std::vector<std::shared_ptr<gloo::AllreduceRingChunked<float>>> algorithms;
  for (auto& buffer : buffers) {
    std::vector<float*> ptrs{buffer.data()};
    algorithms.push_back(std::make_shared<gloo::AllreduceRingChunked<float>>(job.context, ptrs, static_cast<int>(job.elements)));
  }
  return [algorithms](size_t b) { algorithms[b]->run(); };
}

// batch sums n buffers and returns how many elements are wrong.
size_t batch(const Job& job, const Way& way, const std::function<void()>& meet, Buffers& buffers, size_t n,
             std::vector<double>& micros) {
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
  for (size_t b = 0; b < n; b++) {
    for (size_t i = 0; i < job.elements; i++) {
      float want = 0;
      for (int r = 0; r < job.ranks; r++) want += element(r, i);
      wrong += buffers[b][i] != want;
    }
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

// measure runs one way; rank 0 prints its line. Ranks meet, and compare what
// they saw, over control: sync mode takes nothing but registered buffers.
void measure(const Job& job, const char* name, const Way& way, const std::shared_ptr<gloo::Context>& control, Buffers& buffers) {
  auto meet = [&control] {
    gloo::BarrierOptions options(control);
    gloo::barrier(options);
  };
  std::vector<double> micros;
  uint64_t wrong = batch(job, way, meet, buffers, buffers.size(), micros);  // warm-up
  micros.clear();
  while (micros.size() < job.iterations) {
    wrong += batch(job, way, meet, buffers, std::min(buffers.size(), job.iterations - micros.size()), micros);
  }
  std::sort(micros.begin(), micros.end());
  double median = micros[(micros.size() - 1) / 2];
  overRanks<double>(control, median, &gloo::max<double>);
  overRanks<uint64_t>(control, wrong, &gloo::sum<uint64_t>);
  if (job.rank == 0) {
    std::printf("%-18s %12zu %6d %12.1f %8llu\n", name, job.elements * sizeof(float), job.ranks, median,
                static_cast<unsigned long long>(wrong));
    std::fflush(stdout);
  }
}

void runRank(const std::string& folder, int rank, int ranks, size_t bytes, size_t iterations) {
  gloo::transport::tcp::attr loopback;
  loopback.hostname = "127.0.0.1";
  auto device = gloo::transport::tcp::CreateDevice(loopback);
  auto control = connect(folder, "control", rank, ranks, device);
  Job job{rank, ranks, bytes / sizeof(float), iterations, nullptr};
  const size_t count = std::max<size_t>(1, std::min(kBatchMost, kBatchBytes / bytes));
  Buffers buffers(count, std::vector<float>(job.elements));

  auto with = [&](const char* name, const std::function<Way()>& make) {
    job.context = connect(folder, name, rank, ranks, device);
    measure(job, name, make(), control, buffers);
  };
  with("ring-1MiB", [&] { return ring(job, buffers, 1 << 20); });
  with("ring-256KiB", [&] { return ring(job, buffers, 256 << 10); });
  with("ring-chunked", [&] { return ringChunked(job, buffers, false); });
  with("ring-chunked-sync", [&] { return ringChunked(job, buffers, true); });
}

// startRanks forks the ranks, before gloo starts any thread, and waits for
// them. If one fails it ends the others and returns false.
bool startRanks(const std::string& folder, int ranks, size_t bytes, size_t iterations) {
  const pid_t parent = getpid();
  std::vector<pid_t> children;
  for (int rank = 0; rank < ranks; rank++) {
    const pid_t pid = fork();
    if (pid == 0) {
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      if (getppid() != parent) _exit(1);
      try {
        runRank(folder, rank, ranks, bytes, iterations);
      } catch (const std::exception& e) {
        std::fprintf(stderr, "gloo_ring: rank %d: %s\n", rank, e.what());
        _exit(1);
      }
      std::fflush(stdout);
      _exit(0);  // peers may still use the mesh: its destructors would complain
    }
    if (pid < 0) break;
    children.push_back(pid);
  }
  bool good = children.size() == static_cast<size_t>(ranks);
  for (size_t left = children.size(); left > 0; left--) {
    if (!good) {
      for (pid_t pid : children) kill(pid, SIGKILL);
    }
    int status = 0;
    const pid_t pid = wait(&status);
    children.erase(std::remove(children.begin(), children.end(), pid), children.end());
    good = good && status == 0;
  }
  return good;
}

}  // namespace

int main(int argc, char** argv) {
  const long ranks = argc > 1 ? std::atol(argv[1]) : 0;
  const long long bytes = argc > 2 ? std::atoll(argv[2]) : 0;
  const long iterations = argc > 3 ? std::atol(argv[3]) : 64;
  if (argc > 4 || ranks < 2 || ranks > 1024 || bytes < 4 || bytes > 1 << 30 || iterations < 1) {
    std::fprintf(stderr, "usage: gloo_ring RANKS BYTES [ITERATIONS]   (2 ranks or more, 4 bytes to 1 GiB)\n");
    return 64;
  }
  char folder[] = "/tmp/gloo_ring.XXXXXX";
  if (mkdtemp(folder) == nullptr) {
    std::perror("gloo_ring: temporary folder");
    return 73;
  }
  const bool good = startRanks(folder, static_cast<int>(ranks), static_cast<size_t>(bytes), static_cast<size_t>(iterations));
  std::error_code ignored;
  std::filesystem::remove_all(folder, ignored);
  return good ? 0 : 1;
}
