// A machine in words.
import type { Machine } from "./shapes";

/** Its kernel and preemption model. */
export function kernelOf({ kernel, preemption }: Machine): string {
  return `Linux ${kernel} ${preemption}`;
}

/** Its processor and kernel. */
export function machineOf(machine: Machine): string {
  return `${machine.cpu}, ${machine.cpus} CPUs, ${kernelOf(machine)}`;
}
