"""Times this kernel and ipykernel in one run: start to the first reply, and
small cells, from request to idle. Prints a JSON object."""
import json
import statistics
import sys
import time

from jupyter_client.manager import start_new_kernel

CODE = {"noema": ["1+1", 'fmt.Println("x")'], "python3": ["1+1", 'print("x")']}


def cell(client, code):
    begun = time.perf_counter()
    msg = client.execute(code)
    while True:
        m = client.get_iopub_msg(timeout=30)
        if m["parent_header"].get("msg_id") == msg and m["content"].get("execution_state") == "idle":
            break
    client.get_shell_msg(timeout=30)
    return time.perf_counter() - begun


kernels, out = {}, {}
for name in CODE:
    starts = []
    for _ in range(3):
        begun = time.perf_counter()
        manager, client = start_new_kernel(kernel_name=name)
        cell(client, CODE[name][0])
        starts.append(time.perf_counter() - begun)
        if len(starts) < 3:
            client.stop_channels()
            manager.shutdown_kernel(now=True)
    kernels[name] = (manager, client)
    out[name] = {"start_ms": statistics.median(starts) * 1e3}
times = {name: [[], []] for name in CODE}
for i in range(int(sys.argv[1]) if len(sys.argv) > 1 else 60):
    for name, (_, client) in kernels.items():  # in turns, so that noise hits both
        for k, code in enumerate(CODE[name]):
            times[name][k].append(cell(client, code))
for name, (manager, client) in kernels.items():
    out[name]["value_ms"], out[name]["print_ms"] = [statistics.median(t[5:]) * 1e3 for t in times[name]]
    client.stop_channels()
    manager.shutdown_kernel(now=True)
json.dump(out, sys.stdout)
