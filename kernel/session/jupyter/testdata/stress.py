"""What a notebook may do to a kernel: floods, big displays, several clients,
one that stalls, forged messages, wrong input, interrupts. Prints a JSON object."""
import json
import socket
import struct
import sys
import time

import zmq
from jupyter_client.manager import start_new_kernel

out = {}


def run(client, code, timeout=30):
    """Runs a cell and returns its reply, and what it published."""
    msg = client.execute(code)
    stream, shown, error = [], [], None
    while True:
        m = client.get_iopub_msg(timeout=timeout)
        if m["parent_header"].get("msg_id") != msg:
            continue
        kind, c = m["header"]["msg_type"], m["content"]
        if kind == "stream":
            stream.append(c["text"])
        elif kind in ("display_data", "execute_result", "update_display_data"):
            shown.append((kind, c))
        elif kind == "error":
            error = c
        elif kind == "status" and c["execution_state"] == "idle":
            break
    reply = client.get_shell_msg(timeout=timeout)
    while reply["parent_header"].get("msg_id") != msg:
        reply = client.get_shell_msg(timeout=timeout)
    return reply["content"], "".join(stream), shown, error


def timed(f):
    begun = time.time()
    result = f()
    return time.time() - begun, result


manager, client = start_new_kernel(kernel_name="noema")
try:
    client.allow_stdin = False
    took, (_, text, _, _) = timed(lambda: run(client, 'for i := range 20000 { fmt.Println(i) }', 60))
    out["prints"] = {"seconds": took, "lines": text.count("\n"), "last": text.split("\n")[-2]}

    took, (_, _, shown, _) = timed(lambda: run(client, 'import "strings"\nlab.Show(Bundle{"text/html": []byte(strings.Repeat("x", 50<<20))})', 60))
    out["display"] = {"seconds": took, "bytes": len(shown[0][1]["data"]["text/html"])}

    reconnects = 0
    for i in range(20):
        other = manager.client()
        other.start_channels()
        other.wait_for_ready(timeout=20)
        reply, _, shown, _ = run(other, f"{i} + 1")
        reconnects += shown[0][1]["data"]["text/plain"] == str(i + 1)
        other.stop_channels()
    out["reconnects"] = reconnects

    second = manager.client()
    second.start_channels()
    second.wait_for_ready(timeout=20)
    run(client, "shared := 7")
    out["second"] = run(second, "shared")[2][0][1]["data"]["text/plain"]
    second.stop_channels()

    # A subscriber that never reads, while others get 30 MB.
    info = manager.get_connection_info()
    context = zmq.Context()
    stalled = context.socket(zmq.SUB)
    stalled.setsockopt(zmq.RCVHWM, 1)
    stalled.setsockopt(zmq.RCVBUF, 1024)
    stalled.setsockopt_string(zmq.SUBSCRIBE, "")
    stalled.connect(f"tcp://{info['ip']}:{info['iopub_port']}")
    time.sleep(0.3)
    took, _ = timed(lambda: run(client, 'for i := range 300 { fmt.Print(strings.Repeat("y", 100_000), i) }', 60))
    after, _ = timed(lambda: run(client, "1"))
    out["stalled"] = {"seconds": took, "next": after}
    stalled.close(0)

    # A message with a wrong signature gets no answer, and the kernel lives.
    forged = context.socket(zmq.DEALER)
    forged.connect(f"tcp://{info['ip']}:{info['shell_port']}")
    header = json.dumps({"msg_id": "x", "session": "x", "username": "x", "date": "", "msg_type": "execute_request", "version": "5.3"}).encode()
    forged.send_multipart([b"<IDS|MSG>", b"0" * 64, header, b"{}", b"{}", json.dumps({"code": "shared = 8"}).encode()])
    forged.send_multipart([b"\x00\xff", b"junk"])
    out["forged_answered"] = bool(forged.poll(500))
    forged.close(0)
    raw = socket.create_connection((info["ip"], info["shell_port"]))
    raw.send(b"GET / HTTP/1.0\r\n\r\n" + struct.pack("Q", 1 << 60))
    raw.close()
    out["forged_ran"] = run(client, "shared")[2][0][1]["data"]["text/plain"]

    failures = {}
    for name, code in {"syntax": "f(1,", "type": 'var n int = "x"', "import": 'import "strngs"', "panic": "var m map[string]int\nm[\"a\"] = 1",
                       "big": "x := 1\n" * 1 + "// " + "z" * (1 << 20) + "\nx +", "junk": "\x00\x01\x02"}.items():
        reply, _, _, error = run(client, code)
        failures[name] = [reply["status"], error["ename"], error["evalue"], "\n".join(error["traceback"])]
    out["failures"] = failures

    interrupts = {}
    for name, code in {"loop": "for { }", "channel": "<-make(chan int)", "sleep": 'import "time"\ntime.Sleep(time.Hour)',
                       "lock": 'import "sync"\nvar mu sync.Mutex\nmu.Lock()\nmu.Lock()', "recursion": "func deep(n int) int { return deep(n+1) + 1 }\ndeep(0)"}.items():
        msg = client.execute(code)
        time.sleep(0.4)
        begun = time.time()
        if name != "recursion":  # which ends by itself
            manager.interrupt_kernel()
        reply = client.get_shell_msg(timeout=20)
        took = time.time() - begun
        interrupts[name] = [reply["content"]["status"], took, run(client, "2 + 3")[2][0][1]["data"]["text/plain"]]
    out["interrupts"] = interrupts

    live = run(client, 'for i := range 3 { lab.Update("bar", fmt.Sprint("step ", i)) }')[2]
    out["live"] = [kind for kind, _ in live]
    client.execute("time.Sleep(300 * time.Millisecond)\npanic(1)")
    aborted = client.execute("1")
    client.get_shell_msg(timeout=20)
    while True:
        reply = client.get_shell_msg(timeout=20)
        if reply["parent_header"]["msg_id"] == aborted:
            break
    out["aborted"] = reply["content"]["status"]
    time.sleep(0.3)
    client.get_iopub_msg(timeout=5)
    msg = client.execute("2", user_expressions={"x": "shared * 2", "bad": "nothere"})
    reply = client.get_shell_msg(timeout=20)
    out["expressions"] = {k: v["status"] + ":" + v.get("data", {}).get("text/plain", "") for k, v in reply["content"]["user_expressions"].items()}
finally:
    client.stop_channels()
    manager.shutdown_kernel(now=False)
    out["ended"] = not manager.is_alive()
json.dump(out, sys.stdout)
