// A loop of MPI all-reduces of as many floats as softmax on MNIST has, for
// TestFaults. Rank 0 says when a step is done.
#include <mpi.h>
#include <stdio.h>

static float gradient[7850];

int main(int argc, char **argv) {
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (long step = 1;; step++) {
    MPI_Allreduce(MPI_IN_PLACE, gradient, 7850, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0 && (step == 1 || step % 200 == 0)) {
      printf("step %ld\n", step);
      fflush(stdout);
    }
  }
}
