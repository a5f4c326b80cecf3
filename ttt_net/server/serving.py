"""Run and stop a listening server, as this process or inside another program.

A server inside a program has its own thread and loop, so that neither delays the other. It ends with the program, or
earlier on an admin's request. Its matches are stored like those of any server.
"""

import asyncio
import contextlib
import gc
import hashlib
import logging
import os
import random
import shutil
import signal
import socket
import sys
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from concurrent.futures import Future
from contextlib import AsyncExitStack, contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import NamedTuple, NoReturn

from ttt_net.errors import Closing, ConfigurationError
from ttt_net.games.catalogue import outside
from ttt_net.matches.analyses import COACH
from ttt_net.names.filtered import WORDS_FILE
from ttt_net.networks import is_loopback
from ttt_net.server.admin.admin_server import AdminListener, attending, open_listener, private_token
from ttt_net.server.admin.moderation import load_sanctions
from ttt_net.server.admission.connection_limiter import Acceptor
from ttt_net.server.announcing import ServerAddress, announced, greet
from ttt_net.server.check import refuse_faults
from ttt_net.server.cluster.replicated_ledger import Membership
from ttt_net.server.house_bots import house_bots
from ttt_net.server.hub import Hub
from ttt_net.server.journal import JOURNAL_FILE, Journal, LocalLedger
from ttt_net.server.journal.ledger import RunningLedger
from ttt_net.server.logs import StartExtension, keep_alive, notify, set_up
from ttt_net.server.maintenance import maintenance_jobs
from ttt_net.server.readiness import DiskUsage
from ttt_net.server.rooms.coach import installed_engine
from ttt_net.server.server_clock import BEAT_MS, ServerClock
from ttt_net.server.services import build_services
from ttt_net.server.settings.configuration import SETTINGS, Configuration, Setting, Value
from ttt_net.server.settings.listening import Certificate, listen
from ttt_net.server.settings.sources import value_of
from ttt_net.server.wire.connection import Connection
from ttt_net.server.wire.encryption import TlsLayer
from ttt_net.server.wire.frames import Reader

try:
    import resource
except ImportError:  # Windows has no such limits
    resource = None  # type: ignore[assignment]

try:
    import uvloop
except ImportError:  # optional: it is only faster
    uvloop = None

log = logging.getLogger(__name__)

SANCTION_KEY_FILE = "sanctions.key"
"""Holds the secret for recognizing banned and muted people; see `admission.sanctions`."""
_WRITING_S = 1.0
"""How long the end waits for the journal."""
_CLOSING_S = 2.0
"""How long the end waits for clients to take part in the closing handshake."""
_TICK_S = 1.0
SAMPLE_S = 0.25
"""How often the lateness of the event loop is measured."""
_MOST_FILES_ON_MACOS = 10_240
"""macOS reports no limit, but rejects a larger one."""
GC_THRESHOLDS = (10_000, 20, 50)
"""Reference counts free nearly everything. Only errors leave cycles, and collecting garbage pauses every match."""
END_S = 15.0
"""How long the end of a server inside another program may take; its thread never outlives the program."""
_LOOK_AT_THREAD_S = 0.5
"""How often `EmbeddedServer.wait` checks whether the server still runs."""


class Listeners(NamedTuple):
    """The public socket, its certificate if it has one, and the admin's listener if there is one."""

    public: socket.socket
    certificate: Certificate | None
    admin: AdminListener | None


def serve(
    configuration: Configuration,
    certificate: Certificate | None,
    listening: socket.socket,
    reread: Callable[[], Configuration] | None = None,
) -> bool:
    """Serve on the socket until stopped; return whether to serve again, which a node of a cluster may need.

    `reread` reads the settings again; None if they are in no file. Raises `ConfigurationError` if the folder cannot be
    used. If the disk hangs at the end, the process exits with 1.
    """
    with asyncio.Runner(loop_factory=loop_factory()) as runner:
        if configuration.cluster.is_on:
            return runner.run(_serve_node(configuration, certificate, listening, reread))
        ledger = LocalLedger(configuration.folder / JOURNAL_FILE, StartExtension())
        try:
            hub = make_hub(configuration, Journal(ledger), runner.get_loop())
            admin = open_listener(configuration.admin, configuration.folder)
            return runner.run(_serve(hub, ledger, Listeners(listening, certificate, admin), reread, asyncio.Event()))
        finally:
            ledger.close()


async def _serve_node(
    configuration: Configuration,
    certificate: Certificate | None,
    listening: socket.socket,
    reread: Callable[[], Configuration] | None,
) -> bool:
    """Like `_serve`, as one node of a cluster, which needs the extra `cluster`."""
    from ttt_net.server.cluster.process import RunningNode, joined

    async with joined(configuration, configuration.folder / JOURNAL_FILE) as parts:
        loop = asyncio.get_running_loop()
        hub = make_hub(configuration, Journal(parts.ledger), loop, parts.membership, parts.stream.secret)
        admin = open_listener(configuration.admin, configuration.folder)
        over = asyncio.Event()
        node = RunningNode(parts, hub, over.set)
        return await _serve(hub, node, Listeners(listening, certificate, admin), reread, over)


async def _serve(
    hub: Hub,
    ledger: RunningLedger,
    listeners: Listeners,
    reread: Callable[[], Configuration] | None,
    over: asyncio.Event,
) -> bool:
    """Serve until stopped, or until `over` is set; return whether it was set and the node restarts."""
    is_told = False
    loop = asyncio.get_running_loop()

    def stop() -> None:
        nonlocal is_told
        is_told = True
        over.set()

    for number in (signal.SIGTERM, signal.SIGINT):
        with contextlib.suppress(NotImplementedError):  # Windows: Ctrl-C cancels this coroutine instead
            loop.add_signal_handler(number, stop)
    if (listeners.certificate or reread) and hasattr(signal, "SIGHUP"):
        had_terminal = _has_terminal()

        def hear_hangup() -> None:
            if had_terminal and not _has_terminal():  # the terminal was closed, so the server should end
                stop()
            else:
                reload_settings(hub, listeners.certificate, reread)

        loop.add_signal_handler(signal.SIGHUP, hear_hangup)
    allow_many_files()
    added = outside()  # searched for now, since that takes up to 100 ms
    for name in hub.services.configuration.games.rated:
        if name not in added:
            log.warning("games.rated: no installed package adds a game %s", name)
    gc.freeze()  # exclude objects that live as long as the process from collections
    gc.set_threshold(*GC_THRESHOLDS)
    where = _address(listeners, hub.services.configuration)
    async with AsyncExitStack() as running:
        if hub.services.configuration.announce and not (where.host and is_loopback(where.host)):
            await running.enter_async_context(announced(where, hub.census))
        await running.enter_async_context(serving(hub, ledger, listeners.public, listeners.certificate))
        await running.enter_async_context(attending(listeners.admin, hub, stop))
        greet(where)
        if hub.services.configuration.house_bots:
            fingerprint = listeners.certificate.fingerprint if listeners.certificate else None
            await running.enter_async_context(
                house_bots(
                    where,
                    hub.services.configuration.folder,
                    fingerprint,
                    engines=hub.services.configuration.house_engines,
                )
            )
        notify("READY=1")
        log.info("started on port %d; the journal is in %s", where.port, hub.services.configuration.folder)
        await over.wait()
        if is_told:
            notify("STOPPING=1")
        log.info("stopping")
    for number in (signal.SIGTERM, signal.SIGINT):
        with contextlib.suppress(NotImplementedError):
            loop.remove_signal_handler(number)
        if is_told:  # another signal would change the exit code
            signal.signal(number, signal.SIG_IGN)
    if ledger.is_stuck:
        log.error("the disk does not answer; the server ends without it, and nothing acknowledged is lost")
        _end_at_once()
    log.info("stopped")
    gc.unfreeze()
    return not is_told


def reload_settings(hub: Hub, certificate: Certificate | None, reread: Callable[[], Configuration] | None) -> None:
    """Read the certificate and the settings again, and log each change. If a setting is invalid, all stay unchanged.

    Live settings are read whenever they are needed, so changing them is enough. The others wait for the next start.
    """
    if certificate:
        certificate.reload()
    if not reread:
        return
    try:
        wanted = reread()
        refuse_faults(wanted)
    except ConfigurationError as error:
        log.error("the settings in use stay: %s", error)
        return
    configuration = hub.services.configuration
    changed = [each for each in SETTINGS if value_of(wanted, each) != value_of(configuration, each)]
    for each in changed:
        value = value_of(wanted, each)
        before, after = each.shown(value_of(configuration, each)), each.shown(value)
        sentence = f"{each.key} is {after} now, it was {before}"
        if each.is_live:
            _put(configuration, each, value)
        else:
            sentence = f"{each.key} will be {after} from the next start on, it stays {before}"
        log.warning("settings: %s", sentence)
    if not changed:
        log.warning("settings: nothing has changed")
    if any(each.key.startswith("log_") for each in changed):
        set_up(configuration.log_format, configuration.log_level)
    hub.settings_changed([each.key for each in changed if each.is_live])


def _put(configuration: Configuration, one: Setting, value: Value) -> None:
    owner: object = configuration
    *path, name = one.key.split(".")
    for each in path:
        owner = getattr(owner, each)
    setattr(owner, name, value)


def _has_terminal() -> bool:
    """Return whether standard input is an open terminal."""
    return sys.stdin is not None and os.isatty(0)


def disk_usage(journal: Path) -> DiskUsage | None:
    """Return the use of the journal's disk; None if the system does not report it."""
    try:
        files = [Path(f"{journal}{part}") for part in ("", "-wal")]
        return DiskUsage(
            shutil.disk_usage(journal.parent).free, sum(each.stat().st_size for each in files if each.exists())
        )
    except OSError:
        return None


def make_hub(
    configuration: Configuration,
    journal: Journal,
    loop: asyncio.AbstractEventLoop,
    membership: Membership | None = None,
    shared_secret: bytes | None = None,
) -> Hub:
    """Return the hub of a public server, with secrets from the system.

    In a cluster it has a `membership`, and shares one secret with the other nodes.
    """
    rng, engine = random.SystemRandom(), installed_engine()
    secret = shared_secret or private_token(configuration.folder / SANCTION_KEY_FILE).encode()
    clock = ServerClock()
    services = build_services(
        configuration,
        journal,
        loop,
        clock.play_ms,
        rng,
        engine,
        wall_ms=clock.wall_ms,
        beat=clock.beat,
        measure=partial(disk_usage, configuration.folder / JOURNAL_FILE),
        coach=COACH,
        word_file=lambda: configuration.filtered_words or configuration.folder / WORDS_FILE,
        sanction_key=hashlib.sha256(secret).digest(),
        cost_s=time.thread_time,
        membership=membership,
    )
    return Hub(services)


@contextlib.asynccontextmanager
async def serving(
    hub: Hub,
    ledger: RunningLedger,
    listening: socket.socket,
    certificate: Certificate | None = None,
    closing: Closing = Closing.RESTART,
) -> AsyncIterator[None]:
    """Serve on the socket inside the block. At its end, notify every client, and wait only briefly for each.

    `closing` is the close code: the server restarts, or its host has closed it.
    """
    loop = asyncio.get_running_loop()
    hub.read_page()  # before anything can wait for it
    hub.services.disk.look()  # so that it is not ready for a second, and begins matches that cannot go on
    async with asyncio.TaskGroup() as tasks:
        writing = tasks.create_task(ledger.run())
        ticking = tasks.create_task(_tick(hub, maintenance_jobs(hub)))
        sampling = tasks.create_task(_sample_lag(hub))
        beating = tasks.create_task(_beat(hub))
        analysing = tasks.create_task(hub.analysis.run())
        coaching = tasks.create_task(hub.coach.run())
        living = tasks.create_task(keep_alive(lambda: "{} players, {} matches".format(*hub.census())))
        load_sanctions(hub.services)
        hub.recall()
        protocols, arrivals = _protocols(hub, loop, certificate), hub.limits.arrivals
        acceptor = Acceptor(listening, tasks, protocols, hub.is_shut_to, arrivals, hub.now_ms)
        try:
            with acceptor.accepting():
                yield
        finally:
            hub.services.shutdown.drain(closing)
            ledger.stop()
            await asyncio.wait([writing], timeout=_WRITING_S)
            hub.close_all(closing)
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(hub.emptied.wait(), _CLOSING_S)
            hub.abort_all()
            await hub.emptied.wait()
            writing.cancel()  # if the disk hangs, its thread is abandoned
            living.cancel()
            ticking.cancel()
            sampling.cancel()
            beating.cancel()
            analysing.cancel()
            coaching.cancel()


def _protocols(hub: Hub, loop: asyncio.AbstractEventLoop, certificate: Certificate | None) -> Callable[[], Reader]:
    """Return the factory of protocols for new sockets."""
    buffer = hub.services.read_buffer
    if certificate is None:
        return lambda: Connection(hub, loop, buffer)
    return lambda: TlsLayer(Connection(hub, loop, buffer), certificate.context, hub.limits, buffer)


def _end_at_once() -> NoReturn:
    """End the process without waiting for its threads, as the interpreter would."""
    for stream in filter(None, (sys.stdout, sys.stderr)):
        stream.flush()
    os._exit(1)


async def _tick(hub: Hub, chores: Mapping[str, Callable[[], None]]) -> None:
    loop = asyncio.get_running_loop()
    while True:
        due_s = loop.time() + _TICK_S
        await asyncio.sleep(_TICK_S)
        hub.excuse(loop.time() - due_s)
        hub.tick(loop.time())
        if hub.services.keeps_lobby:  # one node of a cluster does it for all
            for name, chore in chores.items():
                hub.services.guard.attempt(name, chore)


async def _sample_lag(hub: Hub) -> None:
    loop = asyncio.get_running_loop()
    while True:
        due_s = loop.time() + SAMPLE_S
        await asyncio.sleep(SAMPLE_S)
        hub.metrics.lag_s.observe(loop.time() - due_s)


async def _beat(hub: Hub) -> None:
    while True:
        hub.services.beat()
        await asyncio.sleep(BEAT_MS / 1000)


def _address(listeners: Listeners, configuration: Configuration) -> ServerAddress:
    port = listeners.public.getsockname()[1]
    host = None if configuration.host in ("", "0.0.0.0", "::") else configuration.host  # noqa: S104 - only compared
    where = ServerAddress(
        configuration.title,
        host,
        port,
        configuration.folder,
        public_url=configuration.public_url,
        is_proxied=configuration.behind_proxy,
    )
    if listeners.certificate is None:
        return where
    certificate, is_self_signed = listeners.certificate, configuration.tls.self_signed
    return where._replace(scheme="wss", fingerprint=certificate.fingerprint, is_self_signed=is_self_signed)


def loop_factory() -> Callable[[], asyncio.AbstractEventLoop]:
    """Return uvloop's event loop if it is installed, which is faster and otherwise equivalent.

    Otherwise, return the selector event loop, because Windows' default loop cannot watch a listening socket.
    """
    if uvloop is None:
        return asyncio.SelectorEventLoop
    new_loop: Callable[[], asyncio.AbstractEventLoop] = uvloop.new_event_loop
    return new_loop


def allow_many_files() -> None:
    """Raise the limit of open sockets to the machine's maximum."""
    if resource is None:
        return
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    for most in (hard, _MOST_FILES_ON_MACOS):
        with contextlib.suppress(ValueError, OSError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))
            return


class _Begun(NamedTuple):
    """The objects created by the thread of a server."""

    loop: asyncio.AbstractEventLoop
    stop: asyncio.Event
    hub: Hub


class EmbeddedServer:
    """A server that runs on a thread of this program; its methods may be called from any other thread."""

    def __init__(self, where: ServerAddress, begun: _Begun, thread: threading.Thread) -> None:
        self.where = where
        self._begun, self._thread = begun, thread

    def people(self) -> int:
        """Return the number of connected people, without bots; 0 after the end."""
        return self._begun.hub.census()[0] if self._thread.is_alive() else 0

    def stop(self) -> None:
        """Ask the server to end; it may have ended already."""
        with suppress(RuntimeError):  # an admin has already ended it
            self._begun.loop.call_soon_threadsafe(self._begun.stop.set)

    def wait(self) -> None:
        """Wait until the server has ended, on an admin's request or by an error."""
        while self._thread.is_alive():
            self._thread.join(_LOOK_AT_THREAD_S)  # signals are handled in between


@contextmanager
def server_inside(configuration: Configuration) -> Iterator[EmbeddedServer]:
    """Run a server inside the block, which begins when it listens. Raises `ConfigurationError` if it fails to start."""
    with listen(configuration.host or None, configuration.port) as listening:
        ledger = LocalLedger(configuration.folder / JOURNAL_FILE)
        try:
            host = configuration.host or None
            where = ServerAddress(configuration.title, host, listening.getsockname()[1], configuration.folder)
            begun: Future[_Begun] = Future()
            arguments = (configuration, ledger, listening, where, begun)
            thread = threading.Thread(target=_run_inside, args=arguments, name="server", daemon=True)
            thread.start()
            server = EmbeddedServer(where, begun.result(), thread)
            try:
                yield server
            finally:
                server.stop()
                thread.join(END_S)
        finally:
            ledger.close()


def _run_inside(
    configuration: Configuration,
    ledger: LocalLedger,
    listening: socket.socket,
    where: ServerAddress,
    begun: Future[_Begun],
) -> None:
    try:
        asyncio.run(_serve_inside(configuration, ledger, listening, where, begun))
    except BaseException as error:  # any error is raised in the thread that waits for the server
        if begun.done():
            raise
        begun.set_exception(error)


async def _serve_inside(
    configuration: Configuration,
    ledger: LocalLedger,
    listening: socket.socket,
    where: ServerAddress,
    begun: Future[_Begun],
) -> None:
    stop = asyncio.Event()
    hub = make_hub(configuration, Journal(ledger), asyncio.get_running_loop())
    async with AsyncExitStack() as running:
        if configuration.announce and not (where.host and is_loopback(where.host)):
            await running.enter_async_context(announced(where, hub.census))
        await running.enter_async_context(serving(hub, ledger, listening, closing=Closing.ENDED))
        admin = open_listener(configuration.admin, configuration.folder)
        await running.enter_async_context(attending(admin, hub, stop.set))
        if configuration.house_bots:
            await running.enter_async_context(house_bots(where, configuration.folder, None))
        begun.set_result(_Begun(asyncio.get_running_loop(), stop, hub))
        await stop.wait()
