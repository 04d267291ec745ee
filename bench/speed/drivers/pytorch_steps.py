"""PyTorch by hand: a loop over batches in memory; with several ranks under DDP over gloo."""
import os
import sys

import torch
import torch.distributed as dist
from torch import nn

import common


def network(c):
    if c["model"] == "cnn":
        return nn.Sequential(
            nn.Conv2d(1, 32, 5, padding=2), nn.ReLU(), nn.MaxPool2d(2),
            nn.Conv2d(32, 64, 5, padding=2), nn.ReLU(), nn.MaxPool2d(2),
            nn.Flatten(), nn.Linear(7 * 7 * 64, 10))
    layers, width = [], 784
    for n in c["hidden"]:
        layer = nn.Linear(width, n)
        nn.init.kaiming_normal_(layer.weight, nonlinearity="relu")  # as ringtrain's begin
        nn.init.zeros_(layer.bias)
        layers += [layer, nn.ReLU()]
        width = n
    return nn.Sequential(*layers, nn.Linear(width, 10))


def optimizer(c, net):
    """In one fused pass, the fastest that PyTorch has, where this version has it."""
    def made(**how):
        if c["optimizer"] == "adam":
            return torch.optim.Adam(net.parameters(), lr=c["rate"], **how)
        return torch.optim.SGD(net.parameters(), lr=c["rate"], momentum=c["momentum"], **how)
    try:
        return made(fused=True)
    except (RuntimeError, TypeError):
        return made()


def batches(c):
    x, y = common.records(c)
    x, y = torch.from_numpy(x), torch.from_numpy(y)
    if c["model"] != "cnn":
        return list(x), list(y)
    x = x.view(x.shape[0], x.shape[1], 1, 28, 28)
    if c["way"] == "channels_last":
        return [b.to(memory_format=torch.channels_last) for b in x], list(y)
    return list(x), list(y)


def main():
    c = common.case()
    torch.manual_seed(1)
    torch.set_num_threads(c["threads"])
    net = network(c)
    if c["way"] == "channels_last":
        net = net.to(memory_format=torch.channels_last)
    if c["ranks"] > 1:
        meet = "file://" + os.path.join(os.path.dirname(sys.argv[1]), "torch-meets")
        dist.init_process_group("gloo", init_method=meet, rank=c["rank"], world_size=c["ranks"])
        net = nn.parallel.DistributedDataParallel(net, gradient_as_bucket_view=True)
    x, y = batches(c)
    criterion, opt, at = nn.CrossEntropyLoss(), optimizer(c, net), 0

    def run(steps):
        nonlocal at
        for _ in range(steps):
            opt.zero_grad()
            loss = criterion(net(x[at % len(x)]), y[at % len(y)])
            loss.backward()
            opt.step()
            at += 1
        return loss.item()

    library = "PyTorch %s, %s" % (torch.__version__, torch.backends.cpu.get_cpu_capability())
    common.serve(c, library, run)
    if c["ranks"] > 1:
        dist.barrier()


main()
