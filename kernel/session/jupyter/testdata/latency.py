"""Times this kernel and ipykernel in one run: start to the first reply, and
small cells, from request to idle. Prints a JSON object.

Of start_ms, some 370 ms are the client's own, whatever the kernel: it connects
before any kernel can listen, tries again after 100 to 200 ms, and at last reads
on for 200 ms to be sure that nothing comes. process_ms is the kernel alone: from
the start of its process to the reply to the first cell, of a client that connects
once the kernel listens."""
import json
import os
import socket
import statistics
import subprocess
import sys
import tempfile
import time

from jupyter_client.blocking import BlockingKernelClient
from jupyter_client.connect import write_connection_file
from jupyter_client.manager import KernelManager, start_new_kernel

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


def process(name):
    """the time that the kernel's own process takes for its first cell"""
    with tempfile.TemporaryDirectory() as folder:
        file, config = write_connection_file(os.path.join(folder, "kernel.json"))
        client = BlockingKernelClient()
        client.load_connection_info(config)
        begun = time.perf_counter()
        argv = KernelManager(kernel_name=name, connection_file=file).format_kernel_cmd()
        kernel = subprocess.Popen(argv, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        while socket.socket().connect_ex(("127.0.0.1", config["shell_port"])):
            assert kernel.poll() is None
            time.sleep(0.001)
        client.start_channels(iopub=False, stdin=False, hb=False, control=False)
        client.execute(CODE[name][0])
        client.get_shell_msg(timeout=30)
        took = time.perf_counter() - begun
        client.stop_channels()
        kernel.kill()
        kernel.wait()
        return took


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
    out[name] = {"start_ms": statistics.median(starts) * 1e3, "process_ms": statistics.median(process(name) for _ in range(3)) * 1e3}
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
