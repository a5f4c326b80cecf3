"""A strategy as just another player: it seeks, plays, accepts rematches, and answers draw offers by what it sees.

It hears and says what a person's client does; only its moves come from a mind in another process.
"""

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass, replace

from ttt_net.client import words
from ttt_net.client.connection import Connection
from ttt_net.client.events import Answered, Event, Farewell, Key, Line, Mail, Resized, Stop
from ttt_net.client.signals import post
from ttt_net.client.thinker import Mind, Question
from ttt_net.client.view import View, update
from ttt_net.errors import Code, Refusal
from ttt_net.messages import (
    Abort,
    Decline,
    Offer,
    Offered,
    Play,
    Refused,
    Resign,
    Resume,
    Said,
    Seek,
    Snapshot,
    Unseek,
    Welcome,
)

AGAIN_S = 2.0
"""When a refusal says that later is better, but not when."""
_LEAST_MS = 20
