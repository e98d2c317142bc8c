// Moments that one section shows and others follow: a click in the top view moves the timeline, and the other way round.

export interface Moment {
  /** Index of the run on the page. */
  run: number;
  /** From when to when, ns since the begin of the run. */
  from: number;
  to: number;
}

type Listener = (moment: Moment) => void;
const listeners = new Map<string, Listener>();

/** Calls back whenever another section shows a moment. One listener a section; a later one replaces it. */
export function follow(section: string, listener: Listener): void {
  listeners.set(section, listener);
}

/** Says what a section shows now. */
export function announce(section: string, moment: Moment): void {
  for (const [other, listener] of listeners) if (other !== section) listener(moment);
}
