/** Let the browser store the page, so that it opens without a connection. */

import { language } from "./i18n.js";

/** The content security policy allows scripts only from addresses that a trusted-types policy has approved. */
interface Policies {
  createPolicy(name: string, rules: { createScriptURL: (address: string) => string }): { createScriptURL(address: string): string };
}

/**
 * Register the service worker. Browsers support them only over TLS and on this machine; without one, the page works as
 * well.
 */
export function keepPage(): void {
  const address = new URL(`worker.js${language === "en" ? "" : `?${language}`}`, import.meta.url).href;
  const policies = (window as { trustedTypes?: Policies }).trustedTypes;
  const trusted = policies?.createPolicy("worker", { createScriptURL: (each) => each }).createScriptURL(address) ?? address;
  const { serviceWorker } = navigator;
  // It keeps the puzzles of the next days, which it gets anew as the page requests them.
  serviceWorker?.register(trusted, { scope: "/" }).then(() => serviceWorker.ready).then(() => fetch("/puzzles")).catch(() => null);
}
