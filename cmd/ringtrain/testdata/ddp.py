# A loop of PyTorch's DDP over gloo, for TestFaults. Rank 0 says when a step is done.
import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

dist.init_process_group("gloo")
torch.set_num_threads(1)
model = DistributedDataParallel(torch.nn.Linear(784, 10))
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
x = torch.rand(25, 784)
y = torch.randint(10, (25,))
step = 0
while True:
    optimizer.zero_grad()
    torch.nn.functional.cross_entropy(model(x), y).backward()
    optimizer.step()
    step += 1
    if dist.get_rank() == 0 and (step == 1 or step % 20 == 0):
        print("step", step, flush=True)
