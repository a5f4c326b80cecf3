/** Have the page kept by the browser, so that it opens without a connection. */

import { language } from "./i18n.js";

/** Pages may only start a script from an address that a policy has passed (see the content security policy). */
interface Policies {
  createPolicy(name: string, rules: { createScriptURL: (address: string) => string }): { createScriptURL(address: string): string };
}

/** Register the service worker. Browsers have them over TLS and on this machine only; without one, the page works as before. */
export function keepPage(): void {
  const address = new URL(`worker.js${language === "en" ? "" : `?${language}`}`, import.meta.url).href;
  const policies = (window as { trustedTypes?: Policies }).trustedTypes;
  const trusted = policies?.createPolicy("worker", { createScriptURL: (each) => each }).createScriptURL(address) ?? address;
  navigator.serviceWorker?.register(trusted, { scope: "/" }).catch(() => null);
}
