/** The invitation that we made last, kept so that it is there again after the page was loaded anew. */

import { keep, keptFields } from "./kept.js";
import type { TimeControl } from "./protocol.js";
import { state } from "./store.js";

const KEPT = "ttt_net.invitation";
const NONE = { code: "", game: "", name: "", untilMs: 0, time: {} };

/** Keep the invitation that has just been made. */
export function keepInvitation(): void {
  const { invitation, you } = state;
  if (!invitation) return;
  const { code, game, time = {}, expires_in_ms: left } = invitation;
  keep(KEPT, JSON.stringify({ code, game, time, name: you?.name, untilMs: Date.now() + left }));
}

/** Take up the invitation again that is kept here, if it is ours and still good. */
export function recallInvitation(): void {
  const { code, game, name, untilMs, time } = keptFields(KEPT, NONE);
  const left = untilMs - Date.now();
  if (!code || state.invitation || left <= 0 || name !== state.you?.name) return;
  const isTimed = "initial_ms" in time && typeof time.initial_ms === "number";
  state.invitation = { code, game, expires_in_ms: left, ...(isTimed && { time: time as TimeControl }) };
}

/** Forget it: it was used, or put aside. */
export function forgetInvitation(): null {
  keep(KEPT, null);
  return null;
}
