"""numpy by hand, forward and backward, under mpi4py: the gradients are one buffer that the ranks sum."""
import numpy as np
from mpi4py import MPI

import blas
import common


class Network:
    """Dense layers with ReLU between; all values in one buffer, all gradients in another."""

    def __init__(self, c):
        widths = [784, *c["hidden"], 10]
        shapes = [s for n, m in zip(widths, widths[1:]) for s in ((n, m), (m,))]
        size = sum(int(np.prod(s)) for s in shapes)
        self.values, self.grads = np.zeros(size, np.float32), np.zeros(size, np.float32)
        self.w, self.g, at = [], [], 0
        draw = np.random.default_rng(1)
        for s in shapes:
            n = int(np.prod(s))
            self.w.append(self.values[at:at + n].reshape(s))
            self.g.append(self.grads[at:at + n].reshape(s))
            at += n
            if len(s) == 2:
                self.w[-1][:] = draw.normal(0, (2 / s[0]) ** 0.5, s)
        self.scale = np.float32(1 / c["batch"])
        self.rows = np.arange(c["local"])
        self.a = [np.empty((c["local"], m), np.float32) for m in widths[1:]]
        self.d = [np.empty((c["local"], m), np.float32) for m in widths[1:]]

    def step(self, x, y):
        """Writes this rank's share of the gradient of the mean loss; returns the rank's mean loss."""
        a = [x, *self.a]
        last = len(self.a) - 1
        for i in range(last + 1):
            np.dot(a[i], self.w[2 * i], out=a[i + 1])
            a[i + 1] += self.w[2 * i + 1]
            if i < last:
                np.maximum(a[i + 1], 0, out=a[i + 1])
        z = a[-1]
        z -= z.max(axis=1, keepdims=True)
        p = np.exp(z, out=self.d[last])
        p /= p.sum(axis=1, keepdims=True)
        loss = -np.log(np.maximum(p[self.rows, y], 1e-30)).mean()
        p[self.rows, y] -= 1
        p *= self.scale
        for i in range(last, -1, -1):
            d = self.d[i]
            np.dot(a[i].T, d, out=self.g[2 * i])
            np.sum(d, axis=0, out=self.g[2 * i + 1])
            if i > 0:
                np.dot(d, self.w[2 * i].T, out=self.d[i - 1])
                self.d[i - 1] *= a[i] > 0
        return loss


class SGD:
    def __init__(self, c, net):
        self.net, self.rate = net, np.float32(c["rate"])

    def apply(self):
        self.net.grads *= self.rate
        self.net.values -= self.net.grads


class Adam:
    def __init__(self, c, net):
        self.net, self.rate, self.t = net, c["rate"], 0
        self.m, self.v, self.u = (np.zeros_like(net.values) for _ in range(3))

    def apply(self):
        self.t += 1
        g, u = self.net.grads, self.u
        rate = np.float32(self.rate * (1 - 0.999 ** self.t) ** 0.5 / (1 - 0.9 ** self.t))
        self.m *= np.float32(0.9)
        np.multiply(g, np.float32(0.1), out=u)
        self.m += u
        g *= g
        g *= np.float32(0.001)
        self.v *= np.float32(0.999)
        self.v += g
        np.sqrt(self.v, out=u)
        u += np.float32(1e-8)
        np.divide(self.m, u, out=u)
        u *= rate
        self.net.values -= u


def main():
    c, comm = common.case(), MPI.COMM_WORLD
    c["rank"], c["ranks"] = comm.rank, comm.size
    c["local"] = c["batch"] // c["ranks"]
    net = Network(c)
    opt = (Adam if c["optimizer"] == "adam" else SGD)(c, net)
    x, y = common.records(c)
    at = 0

    def run(steps):
        nonlocal at
        for _ in range(steps):
            loss = net.step(x[at % len(x)], y[at % len(x)])
            if c["ranks"] > 1:
                comm.Allreduce(MPI.IN_PLACE, net.grads)
            opt.apply()
            at += 1
        return loss

    common.serve(c, blas.library(), run)


main()
