"""Read the settings and the certificate again while the server runs, and say in the log what became of it.

Settings that are live are read whenever they are needed, so it is enough to change them; the others are what the server
was built with, and wait for its next start.
"""

import logging
from collections.abc import Callable

from ttt_net.errors import ConfigurationError
from ttt_net.server.check import refuse_faults
from ttt_net.server.hub import Hub
from ttt_net.server.settings import logs
from ttt_net.server.settings.certificate import Certificate
from ttt_net.server.settings.configuration import SETTINGS, Configuration
from ttt_net.server.settings.setting import Setting, Value
from ttt_net.server.settings.sources import value_of

log = logging.getLogger(__name__)


def reload_settings(hub: Hub, certificate: Certificate | None, reread: Callable[[], Configuration] | None) -> None:
    """Take up what has changed; of settings that cannot be read or must not be, none is taken."""
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
        logs.set_up(configuration.log_format, configuration.log_level)
    hub.settings_changed([each.key for each in changed if each.is_live])


def _put(configuration: Configuration, one: Setting, value: Value) -> None:
    owner: object = configuration
    *path, name = one.key.split(".")
    for each in path:
        owner = getattr(owner, each)
    setattr(owner, name, value)
