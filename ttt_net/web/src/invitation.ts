/** Our last invitation, stored so that it survives a reload of the page. */

import { keep, keptFields } from "./kept.js";
import type { TimeControl } from "./protocol.js";
import { state } from "./store.js";

const KEPT = "ttt_net.invitation";
const NONE = { code: "", game: "", name: "", untilMs: 0, time: {} };

/** Store a new invitation. */
export function keepInvitation(): void {
  const { invitation, you } = state;
  if (!invitation) return;
  const { code, game, time = {}, expires_in_ms: left } = invitation;
  keep(KEPT, JSON.stringify({ code, game, time, name: you?.name, untilMs: Date.now() + left }));
}

/** Restore the stored invitation, if it is ours and still valid. */
export function recallInvitation(): void {
  const { code, game, name, untilMs, time } = keptFields(KEPT, NONE);
  const left = untilMs - Date.now();
  if (!code || state.invitation || left <= 0 || name !== state.you?.name) return;
  const isTimed = "initial_ms" in time && typeof time.initial_ms === "number";
  state.invitation = { code, game, expires_in_ms: left, ...(isTimed && { time: time as TimeControl }) };
}

/** Forget the invitation: it was used or dismissed. */
export function forgetInvitation(): null {
  keep(KEPT, null);
  return null;
}
