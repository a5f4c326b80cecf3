/** Prints the faults that AsyncAPI's own validator finds in a document, a line each, or that it is valid. */

import { readFileSync } from "node:fs";

import { Parser } from "@asyncapi/parser";

const ERROR = 0;
const { document, diagnostics } = await new Parser().parse(readFileSync(process.argv[2], "utf8"));
for (const { severity, message, path } of diagnostics) {
  if (severity === ERROR) console.log(`${path.join("/")}: ${message}`);
}
if (document) console.log(`valid: ${document.messages().length} messages`);
