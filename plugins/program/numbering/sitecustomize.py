"""Numbers the calls of models that this program makes. See the Go package numbering.

Python imports this module when it starts. Nothing here may fail the program: whatever is
not as expected is left as it is, and its calls have no number.
"""

import contextvars
import functools
import importlib.machinery
import importlib.util
import os
import sys
import threading


class _Place:
    """A logical thread: its name, and how many calls and submissions it has made.

    Where jobs come to it by chance, as to a worker that takes them from a queue, its
    calls have no number: then the order of arrival counts, and overlaps are told.
    """

    def __init__(self, name, numbered=True):
        self.name, self.calls, self.children, self.numbered = name, 0, 0, numbered
        self.lock = threading.Lock()

    def call(self):
        with self.lock:
            self.calls += 1
            return f"{self.name}/{self.calls - 1}"

    def child(self, kind=""):
        with self.lock:
            self.children += 1
            return _Place(f"{self.name}.{kind}{self.children - 1}", self.numbered)


_root = _Place(os.environ.get("NOEMA_PLACE", "0"))
_place = contextvars.ContextVar("noema_place", default=None)
_within = contextvars.ContextVar("noema_within", default=False)  # a call, or a submission


def _here():
    return _place.get() or _root


def _in(place, function):
    """Returns function as it runs in a place."""

    @functools.wraps(function, updated=())
    def run(*args, **kwargs):
        before = _place.set(place)
        try:
            return function(*args, **kwargs)
        finally:
            _place.reset(before)

    return run


def _takes_jobs(target):
    """Reports whether a thread or process is a worker of a pool of the standard library."""
    return getattr(target, "__module__", None) in ("multiprocessing.pool", "concurrent.futures.process")


def _queues(module):
    get = module.Queue.get

    def numbered(self, *args, **kwargs):
        place = _place.get()
        if place is not None and not _within.get():
            place.numbered = False
        return get(self, *args, **kwargs)

    module.Queue.get = numbered


def _workers(module):
    run = module.BaseProcess.run

    def numbered(self):
        _root.numbered = _root.numbered and not _takes_jobs(getattr(self, "_target", None))
        return run(self)

    module.BaseProcess.run = numbered


def _threads():
    start = threading.Thread.start

    def numbered(self):
        if not _within.get():
            place = _here().child()
            place.numbered = place.numbered and not _takes_jobs(getattr(self, "_target", None))
            self.run = _in(place, self.run)
        return start(self)

    threading.Thread.start = numbered


def _pools(module):
    submit = module.ThreadPoolExecutor.submit

    def numbered(self, fn, /, *args, **kwargs):
        if _within.get():
            return submit(self, fn, *args, **kwargs)
        within = _within.set(True)  # its threads are no places of their own
        try:
            return submit(self, _in(_here().child(), fn), *args, **kwargs)
        finally:
            _within.reset(within)

    module.ThreadPoolExecutor.submit = numbered


async def _placed(place, coro):
    _place.set(place)
    return await coro


def _tasks(module):
    create = module.BaseEventLoop.create_task

    def numbered(self, coro, **kwargs):
        if _within.get():
            return create(self, coro, **kwargs)
        if sys.version_info < (3, 11):  # which takes no context
            return create(self, _placed(_here().child(), coro), **kwargs)
        context = kwargs.pop("context", None) or contextvars.copy_context()
        context.run(_place.set, _here().child())
        return create(self, coro, context=context, **kwargs)

    module.BaseEventLoop.create_task = numbered


def _to_thread(module):
    to_thread = module.to_thread

    async def numbered(func, /, *args, **kwargs):
        return await to_thread(_in(_here().child(), func), *args, **kwargs)

    module.to_thread = numbered


def _loop_is_known():
    """Reports whether tasks of the running loop have places: another's may not."""
    import asyncio

    try:
        return isinstance(asyncio.get_running_loop(), asyncio.BaseEventLoop)
    except RuntimeError:
        return False


def _client(module):
    """Has the clients of OpenAI and Anthropic send the number of each call.

    A client's own attempts to send a request again are within one call, and have its number.
    """

    def number(options, numbered=True):
        if not (numbered and _here().numbered):
            return
        headers = dict(options.headers) if hasattr(options.headers, "items") else {}
        if "Noema-Call" not in headers:
            headers["Noema-Call"] = _here().call()
            options.headers = headers

    def sync(request):
        @functools.wraps(request)
        def numbered(self, cast_to, options, *args, **kwargs):
            number(options)
            within = _within.set(True)
            try:
                return request(self, cast_to, options, *args, **kwargs)
            finally:
                _within.reset(within)

        return numbered

    def asynchronous(request):
        @functools.wraps(request)
        async def numbered(self, cast_to, options, *args, **kwargs):
            number(options, _loop_is_known())
            within = _within.set(True)
            try:
                return await request(self, cast_to, options, *args, **kwargs)
            finally:
                _within.reset(within)

        return numbered

    module.SyncAPIClient.request = sync(module.SyncAPIClient.request)
    module.AsyncAPIClient.request = asynchronous(module.AsyncAPIClient.request)


def _sessions(name, request):
    """Has sessions do the same, of requests or aiohttp, with which clients before 1.0 ask."""

    def number(kwargs, numbered=True):
        headers = dict(kwargs.get("headers") or {})
        if numbered and _here().numbered and "Noema-Call" not in headers:
            kwargs["headers"] = {**headers, "Noema-Call": _here().call()}

    def see(module):
        cls = getattr(module, name)
        plain = getattr(cls, request)

        @functools.wraps(plain)
        def sync(*args, **kwargs):
            if not _within.get():
                number(kwargs)
            within = _within.set(True)
            try:
                return plain(*args, **kwargs)
            finally:
                _within.reset(within)

        @functools.wraps(plain)
        async def asynchronous(*args, **kwargs):
            if not _within.get():
                number(kwargs, _loop_is_known())
            within = _within.set(True)
            try:
                return await plain(*args, **kwargs)
            finally:
                _within.reset(within)

        setattr(cls, request, asynchronous if name == "ClientSession" else sync)

    return see


def _processes():
    """A process that this one starts is a place, too."""

    def forked():
        global _root
        _root = _Place(_forks.pop(), _here().numbered)
        _place.set(None)

    _forks = []
    os.register_at_fork(before=lambda: _forks.append(_here().child("p").name), after_in_parent=lambda: _forks.pop(), after_in_child=forked)


def _spawned(module):
    init = module.Popen.__init__

    def numbered(self, *args, **kwargs):
        if len(args) < 11:  # env is not among them
            env = dict(os.environ if kwargs.get("env") is None else kwargs["env"])
            env["NOEMA_PLACE"] = _here().child("p").name
            kwargs["env"] = env
        return init(self, *args, **kwargs)

    module.Popen.__init__ = numbered


_drawn = None  # what UUIDs are made of
_looks = [0]  # at the clock


def _seed():
    """Random numbers and UUIDs come from NOEMA_SEED."""
    global _drawn
    seed = int(os.environ["NOEMA_SEED"])
    import random

    random.seed(seed)
    _drawn = random.Random(seed ^ 0x6E6F656D61)

    def uuids(module):
        module.uuid4 = lambda: module.UUID(int=_drawn.getrandbits(128), version=4)

    return {"uuid": uuids, "numpy.random": lambda module: module.seed(seed % 2**32)}


def begin_trial():
    """Begins a trial in a copy of a process that has loaded the program; see solver.py."""
    global _root
    _root = _Place("0")
    _place.set(None)
    _looks[0] = 0
    for name, see in _seed().items():
        if name in sys.modules:
            see(sys.modules[name])


def _clock():
    """The clock begins at NOEMA_CLOCK and goes on by a millisecond at each look."""
    import datetime
    import time

    start, lock = int(os.environ["NOEMA_CLOCK"]) * 1000, threading.Lock()

    def milliseconds():
        with lock:
            _looks[0] += 1
            return start + _looks[0]

    time.time = lambda: milliseconds() / 1000
    time.time_ns = lambda: milliseconds() * 1_000_000
    real_date, real = datetime.date, datetime.datetime

    class Kind(type):
        def __instancecheck__(cls, value):
            return isinstance(value, cls.real)

        def __subclasscheck__(cls, sub):
            return issubclass(sub, cls.real)

    class Moment(real, metaclass=Kind):
        @classmethod
        def now(cls, tz=None):
            return real.fromtimestamp(time.time(), tz)

        @classmethod
        def utcnow(cls):
            return real.fromtimestamp(time.time(), datetime.timezone.utc).replace(tzinfo=None)

        @classmethod
        def today(cls):
            return cls.now()

    class Day(real_date, metaclass=Kind):
        @classmethod
        def today(cls):
            return real.fromtimestamp(time.time()).date()

    for cls, kind in ((Moment, real), (Day, real_date)):
        cls.real, cls.__name__, cls.__qualname__, cls.__module__ = kind, kind.__name__, kind.__name__, "datetime"
    datetime.datetime, datetime.date = Moment, Day


class _Finder:
    """Has a function see a module once it is loaded."""

    def __init__(self, seen):
        self.seen = seen

    def find_spec(self, name, path=None, target=None):
        see = self.seen.pop(name, None)
        if see is None:
            return None
        spec = importlib.util.find_spec(name) if path is None else importlib.machinery.PathFinder.find_spec(name, path, target)
        if spec is None or spec.loader is None:
            return spec
        load = spec.loader.exec_module

        def exec_module(module):
            load(module)
            try:
                see(module)
            except Exception:  # noqa: BLE001: another version than is known here
                pass

        try:
            spec.loader.exec_module = exec_module
        except AttributeError:
            pass
        return spec


def _others():
    """Loads the sitecustomize that this one hides, if there is one."""
    own = os.path.dirname(os.path.abspath(__file__))
    path = [p for p in sys.path if os.path.abspath(p or ".") != own]
    spec = importlib.machinery.PathFinder.find_spec("sitecustomize", path)
    if spec is not None and spec.loader is not None:
        spec.loader.exec_module(importlib.util.module_from_spec(spec))


def _begin():
    seen = {
        "concurrent.futures.thread": _pools,
        "asyncio.base_events": _tasks,
        "asyncio.threads": _to_thread,
        "openai._base_client": _client,
        "anthropic._base_client": _client,
        "requests.sessions": _sessions("Session", "request"),
        "aiohttp.client": _sessions("ClientSession", "_request"),
        "subprocess": _spawned,
        "queue": _queues,
        "multiprocessing.process": _workers,
    }
    if os.environ.get("NOEMA_SEED"):
        seen.update(_seed())
    for name in list(seen):
        if name in sys.modules:
            seen.pop(name)(sys.modules[name])
    sys.meta_path.insert(0, _Finder(seen))
    _threads()
    if hasattr(os, "register_at_fork"):
        _processes()
    if os.environ.get("NOEMA_CLOCK"):
        _clock()


try:
    _begin()
except Exception:  # noqa: BLE001: the program runs without numbers
    pass
_others()
