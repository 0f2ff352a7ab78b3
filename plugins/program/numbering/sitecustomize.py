"""Numbers the calls of models that this program makes. See the Go package numbering.

Python imports this module when it starts. Nothing here may fail the program: whatever is
not as expected is left as it is, and its calls have no number.
"""

import functools
import importlib.machinery
import importlib.util
import inspect
import os
import sys
import threading
import weakref


class _Place:
    """A logical thread: its name, and how many calls and submissions it has made.

    Where jobs come to it by chance, as to a worker that takes them from a queue, its
    calls have no number: then the order of arrival counts, and overlaps are told.
    """

    def __init__(self, name, numbered=True):
        self.name, self.calls, self.children, self.numbered = name, 0, {}, numbered
        self.lock = threading.Lock()

    def call(self):
        with self.lock:
            self.calls += 1
            return f"{self.name}/{self.calls - 1}"

    def child(self, kind=""):
        with self.lock:
            number = self.children[kind] = self.children.get(kind, -1) + 1
            return _Place(f"{self.name}.{kind}{number}", self.numbered)

    def passed(self):
        """Returns the name with which it is a place elsewhere; none if its calls have no number."""
        return self.name if self.numbered else ""


_root = _Place(os.environ.get("NOEMA_PLACE", "0"))
_jobs = threading.local()  # .place: of what this thread does now
_tasks = weakref.WeakKeyDictionary()  # the places of tasks
_calling = weakref.WeakSet()  # the tasks that are within a call
_unknown = _Place("?", False)  # of a task that a loop of another kind has started


def _task():
    """Returns the task that runs in this thread, of asyncio or trio."""
    try:
        return sys.modules["asyncio"].current_task()
    except (KeyError, RuntimeError, AttributeError):  # no loop runs here
        pass
    try:
        task = sys.modules["trio"].lowlevel.current_task()
        return task if task in _tasks else None  # trio's own tasks have no place
    except (KeyError, RuntimeError, AttributeError):
        return None


def _here():
    """Returns the place of this moment.

    What has been started here counts, not what a context says that came from elsewhere:
    copy_context().run, with which frameworks hand jobs on, has that of whoever handed them on.
    """
    task = _task()
    if task is None:
        return getattr(_jobs, "place", None) or _root
    return _tasks.get(task) or getattr(_jobs, "starting", None) or _unknown


class _Within:
    """Whether what runs now is within a call, or a submission. Contexts may be shared by tasks."""

    def get(self):
        task = _task()
        return getattr(_jobs, "within", False) if task is None else task in _calling

    def set(self, now):
        task, before = _task(), self.get()
        if task is None:
            _jobs.within = now
        elif now:
            _calling.add(task)
        else:
            _calling.discard(task)
        return before

    reset = set


_within = _Within()


def _in(place, function):
    """Returns function as it runs in a place."""

    @functools.wraps(function, updated=())
    def run(*args, **kwargs):
        before = getattr(_jobs, "place", None)
        _jobs.place = place
        try:
            return function(*args, **kwargs)
        finally:
            _jobs.place = before

    return run


class _Job:
    """A function as it runs in a place of the name, also in another process."""

    def __init__(self, name, function):
        self.name, self.function = name, function

    def __call__(self, *args, **kwargs):
        return _in(_Place(self.name, bool(self.name)), self.function)(*args, **kwargs)


class _Each:
    """A function that gets the name of its place with its arguments."""

    def __init__(self, function, star):
        self.function, self.star = function, star

    def __call__(self, *got):
        name, args = got if self.star else got[0]
        return _Job(name, self.function)(*(args if self.star else [args]))


def _named(items):
    """Returns items with a place for each, in the order in which they are taken."""
    place = _here().child()
    return ((place.child().passed(), item) for item in items)


def _queues(module):
    get = module.Queue.get

    def numbered(self, *args, **kwargs):
        place = getattr(_jobs, "place", None)
        connections = sys._getframe(1).f_globals.get("__name__", "").startswith("urllib3.")  # of its pool, which hold no work
        if place is not None and _task() is None and not _within.get() and not connections:
            place.numbered = False
        return get(self, *args, **kwargs)

    module.Queue.get = numbered


def _threads():
    start = threading.Thread.start

    def numbered(self):
        if not _within.get():
            self.run = _in(_here().child(), self.run)
        return start(self)

    threading.Thread.start = numbered


def _submitting(method, job):
    """Returns a method that hands a function on, of which each call is a place of its own."""

    @functools.wraps(method)
    def numbered(self, fn, /, *args, **kwargs):
        if _within.get():
            return method(self, fn, *args, **kwargs)
        within = _within.set(True)  # the threads that it starts are no places of their own
        try:
            return method(self, job(_here().child(), fn), *args, **kwargs)
        finally:
            _within.reset(within)

    return numbered


def _executor(name, job):
    def see(module):
        executor = getattr(module, name)
        executor.submit = _submitting(executor.submit, job)

    return see


def _elsewhere(place, function):
    return _Job(place.passed(), function)


def _pools(module):
    """The pools of multiprocessing, of processes and of threads."""
    pool = module.Pool
    pool.apply_async = _submitting(pool.apply_async, _elsewhere)
    spread = pool._map_async

    def numbered(self, func, iterable, mapper, *args, **kwargs):
        if not hasattr(iterable, "__len__"):
            iterable = list(iterable)
        return spread(self, _Each(func, mapper is module.starmapstar), list(_named(iterable)), mapper, *args, **kwargs)

    pool._map_async = numbered
    for name in ("imap", "imap_unordered"):

        def lazily(self, func, iterable, *args, _method=getattr(pool, name), **kwargs):
            return _method(self, _Each(func, False), _named(iterable), *args, **kwargs)

        setattr(pool, name, lazily)


def _parallel(module):
    """joblib, whose jobs are taken from an iterable in its order, in whichever thread."""
    call = module.Parallel.__call__

    def numbered(self, iterable):
        jobs = ((_Job(name, job[0]), *job[1:]) for name, job in _named(iterable))
        return _in(_here().child(), call)(self, jobs)

    module.Parallel.__call__ = numbered


def _tasked(module):
    create = module.BaseEventLoop.create_task

    def numbered(self, coro, **kwargs):
        if _within.get():
            return create(self, coro, **kwargs)
        place = _here().child()
        before, _jobs.starting = getattr(_jobs, "starting", None), place  # for one that begins at once
        try:
            task = create(self, coro, **kwargs)
        finally:
            _jobs.starting = before
        _tasks[task] = place
        return task

    module.BaseEventLoop.create_task = numbered


def _spawned_tasks(module):
    """trio, whose scheduler runs what is ready in an order of chance."""
    spawn = module.Runner.spawn_impl

    def numbered(self, async_fn, args, nursery, name, **kwargs):
        task = spawn(self, async_fn, args, nursery, name, **kwargs)
        if not kwargs.get("system_task"):
            _tasks[task] = _here().child()
        return task

    module.Runner.spawn_impl = numbered


def _to_thread(name):
    def see(module):
        to_thread = getattr(module, name)

        @functools.wraps(to_thread)
        async def numbered(func, /, *args, **kwargs):
            if not _within.get():
                func = _in(_here().child(), func)
            return await to_thread(func, *args, **kwargs)

        setattr(module, name, numbered)

    return see


def _number(headers):
    """Adds the number of a call to its headers."""
    if _here().numbered and "Noema-Call" not in headers:
        headers["Noema-Call"] = _here().call()


def _numbering(method, number):
    """Returns a method that makes a call, of which number adds the number to its arguments.

    What runs within the call, such as another attempt, is the same call.
    """

    def numbered(self, args, kwargs):
        try:
            return number(self, *args, **kwargs)
        except Exception:  # noqa: BLE001: another version than is known here
            return args, kwargs

    @functools.wraps(method)
    def sync(self, *args, **kwargs):
        if not _within.get():
            args, kwargs = numbered(self, args, kwargs)
        within = _within.set(True)
        try:
            return method(self, *args, **kwargs)
        finally:
            _within.reset(within)

    @functools.wraps(method)
    async def asynchronous(self, *args, **kwargs):
        if not _within.get():
            args, kwargs = numbered(self, args, kwargs)
        within = _within.set(True)
        try:
            return await method(self, *args, **kwargs)
        finally:
            _within.reset(within)

    return asynchronous if inspect.iscoroutinefunction(method) else sync


def _client(module):
    """The clients of OpenAI and Anthropic, whose own attempts are within one call."""

    def number(self, cast_to, options, *args, **kwargs):
        headers = dict(options.headers) if hasattr(options.headers, "items") else {}
        _number(headers)
        options.headers = headers
        return (cast_to, options, *args), kwargs

    for client in (module.SyncAPIClient, module.AsyncAPIClient):
        client.request = _numbering(client.request, number)


def _httpx(module):
    def number(self, request, *args, **kwargs):
        if str(request.url).startswith(_home):
            _number(request.headers)
        return (request, *args), kwargs

    for client in (module.Client, module.AsyncClient):
        client.send = _numbering(client.send, number)


def _aiohttp(module):
    def number(self, method, url, *args, **kwargs):
        if str(url).startswith(_home):
            kwargs["headers"] = dict(kwargs.get("headers") or {})
            _number(kwargs["headers"])
        return (method, url, *args), kwargs

    module.ClientSession._request = _numbering(module.ClientSession._request, number)


def _urllib3(module):
    """urllib3, and requests, which is made of it."""

    def number(self, *args, **kwargs):
        if f"//{self.host}:{self.port}" in _home and len(args) < 4:  # headers are the fourth
            headers = kwargs.get("headers")
            kwargs["headers"] = (self.headers if headers is None else headers).copy()
            _number(kwargs["headers"])
        return args, kwargs

    pool = module.HTTPConnectionPool
    pool.urlopen = _numbering(pool.urlopen, number)


def _connections(module):
    """The standard library, and what is made of it."""
    put = module.HTTPConnection.putrequest

    def numbered(self, *args, **kwargs):
        put(self, *args, **kwargs)
        if not _within.get() and f"//{self.host}:{self.port}" in _home:
            headers = {}
            _number(headers)
            for name, value in headers.items():
                self.putheader(name, value)

    module.HTTPConnection.putrequest = numbered


def _processes():
    """A process that this one starts is a place, too."""

    def forks():  # a pool starts its workers as chance has it
        _forks.append("" if _within.get() else _here().child("p").passed())

    def forked():
        global _root
        name = _forks.pop()
        _root = _Place(name, bool(name))
        _tasks.clear()
        _calling.clear()
        _jobs.place, _jobs.within = None, False

    _forks = []
    os.register_at_fork(before=forks, after_in_parent=lambda: _forks.pop(), after_in_child=forked)


def _processes_of(module):
    """Those of multiprocessing, however they are started."""
    start, run = module.BaseProcess.start, module.BaseProcess.run

    def numbered(self):
        self._noema_place = "" if _within.get() else _here().child("p").passed()
        return start(self)

    def placed(self):
        return _Job(getattr(self, "_noema_place", ""), run)(self)

    module.BaseProcess.start, module.BaseProcess.run = numbered, placed


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
_home = os.environ.get("NOEMA_URL") or "none"  # where the endpoint is


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
    _jobs.place = None
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
        "concurrent.futures.thread": _executor("ThreadPoolExecutor", _in),
        "concurrent.futures.process": _executor("ProcessPoolExecutor", _elsewhere),
        "multiprocessing.pool": _pools,
        "joblib.parallel": _parallel,
        "asyncio.base_events": _tasked,
        "asyncio.threads": _to_thread("to_thread"),
        "anyio.to_thread": _to_thread("run_sync"),
        "trio._threads": _to_thread("to_thread_run_sync"),
        "trio._core._run": _spawned_tasks,
        "http.client": _connections,
        "httpx._client": _httpx,
        "httpx2._client": _httpx,
        "openai._base_client": _client,
        "anthropic._base_client": _client,
        "urllib3.connectionpool": _urllib3,
        "aiohttp.client": _aiohttp,
        "subprocess": _spawned,
        "queue": _queues,
        "multiprocessing.process": _processes_of,
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
