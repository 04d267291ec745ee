// openmpi times MPI_Allreduce the way `ringtrain bench allreduce` times
// ringtrain's, in place: buffers of a batch are filled, the ranks meet at a
// barrier, the batch is summed back to back, the ranks meet again, and every
// element is checked. Only the sums are timed.
//
//	openmpi BUDGET_MS BATCH_BYTES BYTES …
//
// Rank 0 prints one line for each size: "mpi", bytes, median in microseconds
// (of the slowest rank), and elements that are wrong.

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { batch_most = 64, times_least = 3, times_most = 1000 };

static int rank, ranks;
static double *micros;
static size_t timed; // number of valid entries in micros

// element is the input of a rank: small whole numbers, whose sums are exact.
static float element(int r, size_t i) { return (float)((i + 7 * (size_t)r) % 61); }

// batch sums n buffers and returns the number of wrong elements.
static unsigned long long batch(float *buffers, size_t elements, size_t n) {
  for (size_t b = 0; b < n; b++) {
    for (size_t i = 0; i < elements; i++) buffers[b * elements + i] = element(rank, i);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  for (size_t b = 0; b < n; b++) {
    const double start = MPI_Wtime();
    MPI_Allreduce(MPI_IN_PLACE, buffers + b * elements, (int)elements, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
    micros[timed++] = (MPI_Wtime() - start) * 1e6;
  }
  MPI_Barrier(MPI_COMM_WORLD);
  unsigned long long wrong = 0;
  for (size_t i = 0; i < elements; i++) {
    float want = 0;
    for (int r = 0; r < ranks; r++) want += element(r, i);
    for (size_t b = 0; b < n; b++) wrong += buffers[b * elements + i] != want;
  }
  return wrong;
}

static int ascending(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

// median returns the median time of the slowest rank.
static double median(void) {
  qsort(micros, timed, sizeof *micros, ascending);
  double m = micros[(timed - 1) / 2];
  MPI_Allreduce(MPI_IN_PLACE, &m, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return m;
}

static void measure(float *buffers, size_t bytes, size_t most, double budget) {
  const size_t elements = bytes / sizeof(float);
  timed = 0;
  unsigned long long wrong = batch(buffers, elements, most < times_least ? most : times_least); // warm-up
  size_t n = (size_t)(budget / (median() + 1e-3));
  n = n < times_least ? times_least : n > times_most ? times_most : n;
  for (timed = 0; timed < n;) wrong += batch(buffers, elements, n - timed < most ? n - timed : most);
  const double m = median();
  MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_UNSIGNED_LONG_LONG, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0) {
    printf("mpi %zu %.2f %llu\n", bytes, m, wrong);
    fflush(stdout);
  }
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (argc < 4) {
    if (rank == 0) fprintf(stderr, "usage: openmpi BUDGET_MS BATCH_BYTES BYTES …\n");
    MPI_Abort(MPI_COMM_WORLD, 64);
  }
  const double budget = atof(argv[1]) * 1e3;
  const size_t batch_bytes = strtoull(argv[2], NULL, 10);
  size_t room = batch_bytes;
  for (int i = 3; i < argc; i++) {
    const size_t bytes = strtoull(argv[i], NULL, 10);
    if (bytes < sizeof(float) || bytes > (size_t)1 << 30) MPI_Abort(MPI_COMM_WORLD, 64);
    if (bytes > room) room = bytes;
  }
  float *buffers = malloc(room);
  micros = malloc((times_most + batch_most) * sizeof *micros);
  if (buffers == NULL || micros == NULL) MPI_Abort(MPI_COMM_WORLD, 1);
  for (int i = 3; i < argc; i++) {
    const size_t bytes = strtoull(argv[i], NULL, 10);
    size_t most = room / bytes;
    if (most > batch_most) most = batch_most;
    measure(buffers, bytes, most, budget);
  }
  MPI_Finalize();
  return 0;
}
