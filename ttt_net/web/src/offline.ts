/** Scripts beside the page, one of which lets the browser store it, so that it opens without a connection. */

import { language } from "./i18n.js";

/** The content security policy allows scripts only from addresses that a trusted-types policy has approved. */
interface Policies {
  createPolicy(name: string, rules: { createScriptURL: (address: string) => string }): { createScriptURL(address: string): string };
}

/** The address of a script of this build that runs beside the page. */
export function ownScript(name: string): string {
  const address = new URL(name, import.meta.url).href;
  const policies = (window as { trustedTypes?: Policies }).trustedTypes;
  return policies?.createPolicy("own", { createScriptURL: (each) => each }).createScriptURL(address) ?? address;
}

/**
 * Register the service worker. Browsers support them only over TLS and on this machine; without one, the page works as
 * well.
 */
export function keepPage(): void {
  const { serviceWorker } = navigator;
  // It keeps the puzzles of the next days, which it gets anew as the page requests them.
  serviceWorker?.register(ownScript(`worker.js${language === "en" ? "" : `?${language}`}`), { scope: "/" }).then(() => serviceWorker.ready).then(() => fetch("/puzzles")).catch(() => null);
}
