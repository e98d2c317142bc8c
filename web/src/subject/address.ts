// Pages of one node or topic, by the page's address: #node=%2Fplanner, #topic=%2Fpoints.

/** What a page is about. */
export interface Subject {
  kind: "node" | "topic";
  name: string;
}

/** The address of a page. */
export function addressOf({ kind, name }: Subject): string {
  return `#${kind}=${encodeURIComponent(name)}`;
}

/** What an address asks for; absent if it asks for no node or topic. */
export function asked(hash: string): Subject | undefined {
  const found = /^#(node|topic)=(.+)$/.exec(hash);
  if (found === null) return undefined;
  try {
    return { kind: found[1] === "node" ? "node" : "topic", name: decodeURIComponent(found[2] ?? "") };
  } catch {
    return undefined; // a torn escape
  }
}

/** Calls back when the address comes to lead to another node or topic, or back. Between places of one page, the browser
 * scrolls by itself. */
export function onSubjectChange(changed: () => void): void {
  let subject = asked(location.hash);
  addEventListener("hashchange", () => {
    const [before, now] = [subject, asked(location.hash)];
    subject = now;
    if (before !== undefined || now !== undefined) changed();
  });
}
