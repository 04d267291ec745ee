"""PyTorch on a click log: fm, wide-deep and deepfm, with adagrad, over batches in memory.

One table holds weight and factors of an id, so that one look-up gets both. Ways:
sparse (nn.Embedding with sparse gradients and torch.optim.Adagrad), dense (the same
with dense ones), hand (the batch's distinct ids are found first, and adagrad updates
their rows alone), ddp (sparse under DistributedDataParallel over gloo).
"""
import os
import sys
import warnings

import torch
import torch.distributed as dist
from torch import nn
from torch.nn import functional

import clicks
import common

warnings.filterwarnings("ignore")
EPSILON = 1e-10


class Head(nn.Module):
    """From looked-up rows [n, fields, 1+k] to logits [n]; the table is not in it."""

    def __init__(self, c):
        super().__init__()
        self.bias = nn.Parameter(torch.zeros(1))
        self.pairs = c["model"] in ("fm", "deepfm")
        layers, width = [], c["fields"] * c["factors"]
        for n in c["hidden"]:
            layers += [nn.Linear(width, n), nn.ReLU()]
            width = n
        self.deep = nn.Sequential(*layers, nn.Linear(width, 1)) if layers else None

    def forward(self, rows):
        z = rows[:, :, 0].sum(1) + self.bias
        v = rows[:, :, 1:]
        if self.pairs:
            s = v.sum(1)
            z = z + 0.5 * (s * s - (v * v).sum(1)).sum(1)
        if self.deep is not None:
            z = z + self.deep(v.flatten(1)).squeeze(1)
        return z


class Net(nn.Module):
    def __init__(self, c, sparse):
        super().__init__()
        self.table = nn.Embedding(c["features"], 1 + c["factors"], sparse=sparse)
        begin(self.table.weight.data)
        self.head = Head(c)

    def forward(self, x):
        return self.head(self.table(x))


def begin(table):
    """Weights are zero, factors small and normal, as ringtrain's begin."""
    table.normal_(0, 0.01)
    table[:, 0] = 0


def by_library(c):
    """A step with the library's own optimizer."""
    net = Net(c, c["way"] != "dense")
    opt = torch.optim.Adagrad(net.parameters(), lr=c["rate"], eps=EPSILON)
    if c["way"] == "ddp":
        meet = "file://" + os.path.join(os.path.dirname(sys.argv[1]), "torch-meets")
        dist.init_process_group("gloo", init_method=meet, rank=c["rank"], world_size=c["ranks"])
        net = nn.parallel.DistributedDataParallel(net, gradient_as_bucket_view=True)

    def step(x, y):
        opt.zero_grad()
        loss = functional.binary_cross_entropy_with_logits(net(x), y)
        loss.backward()
        opt.step()
        return loss
    return step


def by_hand(c):
    """A step that touches the batch's rows alone, without sparse tensors."""
    table = torch.empty(c["features"], 1 + c["factors"])
    begin(table)
    squares, head = torch.zeros_like(table), Head(c)
    opt = torch.optim.Adagrad(head.parameters(), lr=c["rate"], eps=EPSILON)

    def step(x, y):
        ids, places = torch.unique(x, return_inverse=True)
        rows = table[ids].requires_grad_()
        opt.zero_grad()
        loss = functional.binary_cross_entropy_with_logits(head(functional.embedding(places, rows)), y)
        loss.backward()
        opt.step()
        g = rows.grad
        s = squares[ids].addcmul_(g, g)
        squares.index_copy_(0, ids, s)
        table.index_add_(0, ids, g.div_(s.sqrt_().add_(EPSILON)), alpha=-c["rate"])
        return loss
    return step


def main():
    c = common.case()
    torch.manual_seed(1)
    torch.set_num_threads(c["threads"])
    x, y = (list(torch.from_numpy(a)) for a in clicks.records(c))
    step, at = (by_hand if c["way"] == "hand" else by_library)(c), 0

    def run(steps):
        nonlocal at
        for _ in range(steps):
            loss = step(x[at % len(x)], y[at % len(y)])
            at += 1
        return loss.item()

    common.serve(c, "PyTorch %s, %s" % (torch.__version__, torch.backends.cpu.get_cpu_capability()), run)
    if c["ranks"] > 1:
        dist.barrier()


main()
