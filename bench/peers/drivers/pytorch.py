# pytorch.py times PyTorch's all_reduce over its gloo backend the way `ringtrain
# bench allreduce` times ringtrain's, in place.
#
#     pytorch.py RANK RANKS FOLDER ADDR BUDGET_MS BATCH_BYTES BYTES …
#
# FOLDER is the file store of the ranks; ADDR is not used (GLOO_SOCKET_IFNAME is). Rank
# 0 prints one line for each size: "torch", bytes, median in microseconds (of
# the slowest rank), and the number of wrong elements.
import sys
import time

import torch
import torch.distributed as dist

BATCH_MOST, TIMES_LEAST, TIMES_MOST = 64, 3, 1000


def element(rank, n):
    """The input of a rank: small whole numbers, whose sums are exact."""
    return ((torch.arange(n) + 7 * rank) % 61).float()


def batch(buffers, mine, want):
    """Sums the buffers; returns the times and the number of wrong elements."""
    for b in buffers:
        b.copy_(mine)
    dist.barrier()
    times = []
    for b in buffers:
        start = time.perf_counter()
        dist.all_reduce(b)
        times.append((time.perf_counter() - start) * 1e6)
    dist.barrier()
    return times, sum(int((b != want).sum()) for b in buffers)


def median(times):
    """The median of the slowest rank."""
    m = torch.tensor([sorted(times)[(len(times) - 1) // 2]], dtype=torch.float64)
    dist.all_reduce(m, op=dist.ReduceOp.MAX)
    return float(m[0])


def measure(arena, size, rank, ranks, budget):
    n = size // 4
    most = min(BATCH_MOST, len(arena) // n)
    buffers = [arena[i * n:(i + 1) * n] for i in range(most)]
    mine, want = element(rank, n), sum(element(r, n) for r in range(ranks))
    times, wrong = batch(buffers[:TIMES_LEAST], mine, want)  # warm-up
    count = max(TIMES_LEAST, min(TIMES_MOST, int(budget / (median(times) + 1e-3))))
    times = []
    while len(times) < count:
        more, bad = batch(buffers[:count - len(times)], mine, want)
        times, wrong = times + more, wrong + bad
    m = median(times)
    bad = torch.tensor([wrong])
    dist.all_reduce(bad)
    if rank == 0:
        print("torch", size, round(m, 2), int(bad[0]), flush=True)


def main():
    rank, ranks, folder = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
    budget, batch_bytes, sizes = float(sys.argv[5]) * 1e3, int(sys.argv[6]), [int(s) for s in sys.argv[7:]]
    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method="file://" + folder + "/torch", rank=rank, world_size=ranks)
    arena = torch.zeros(max(batch_bytes, max(sizes)) // 4)
    for size in sizes:
        measure(arena, size, rank, ranks, budget)
    dist.barrier()


main()
