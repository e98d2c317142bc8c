//! Parses records of the kernel's rings. Layouts are those of perf_event_open(2) and of tracefs `format` files.

use super::calls::{Call, Calls};
use std::collections::HashMap;

const PERF_RECORD_LOST: u32 = 2;
const PERF_RECORD_COMM: u32 = 3;
const PERF_RECORD_EXIT: u32 = 4;
const PERF_RECORD_FORK: u32 = 7;
const PERF_RECORD_SAMPLE: u32 = 9;
const PERF_RECORD_SWITCH_CPU_WIDE: u32 = 15;
const MISC_SWITCH_OUT: u16 = 1 << 13;
const MISC_SWITCH_OUT_PREEMPT: u16 = 1 << 14;
/// TRACE_FLAG_HARDIRQ and TRACE_FLAG_SOFTIRQ of a tracepoint's common_flags.
const IN_INTERRUPT: u8 = 0x08 | 0x10;
/// States of a thread that cannot continue (include/linux/sched.h: S D T t X Z P I). Any other value means that it was
/// preempted.
const NOT_RUNNABLE: u64 = 0xff;
/// The state that is written if the kernel only reports that a thread could not continue: S.
const SLEEPING: u64 = 1;
/// X and Z: the thread will not return.
pub(super) const DEAD: u64 = 0x10 | 0x20;

/// Name of a thread, as the kernel keeps it.
pub(super) type Comm = [u8; 16];

/// An event on a CPU. Ids are those of the source.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Record {
    /// `prev_state` 0: the thread could have continued. `waits_in`: absent if it could, or if it is not known.
    Switch {
        prev: u32,
        prev_state: u64,
        next: u32,
        prev_comm: Option<Comm>,
        next_comm: Option<Comm>,
        waits_in: Option<Call>,
    },
    /// `waker` 0: an interrupt.
    Wakeup { tid: u32, target_cpu: u32, waker: u32, comm: Comm },
    /// A new thread. It belongs to a new process if `pid` is not `parent_pid`.
    Fork { pid: u32, tid: u32, parent_pid: u32 },
    /// A thread ended.
    Exit { tid: u32 },
    /// A thread has a name.
    Name { tid: u32, comm: Comm },
    /// A CPU begins or ends to serve an interrupt.
    Interrupt(Interrupt),
    /// Records that were lost because the ring was full.
    Lost { count: u64 },
}

/// An interrupt of a device, or a softirq.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Interrupt {
    Irq { irq: u32, name: IrqName },
    IrqEnd { irq: u32 },
    Softirq { vector: u32 },
    SoftirqEnd { vector: u32 },
}

/// Name of an interrupt's handler, cut to fit.
pub(super) type IrqName = [u8; 32];

/// The positions of a tracepoint's fields.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Offsets {
    id: u64,
    fields: HashMap<String, (usize, usize)>,
}

impl Offsets {
    /// Parses a `format` file.
    pub fn parse(text: &str) -> Result<Offsets, String> {
        let mut found = Offsets::default();
        for line in text.lines() {
            if let Some(id) = line.strip_prefix("ID:") {
                found.id = id.trim().parse().map_err(|_| format!("{line:?}; a number was expected"))?;
            }
            let Some(field) = line.trim().strip_prefix("field:") else { continue };
            let mut parts = field.split(';').map(str::trim);
            let name = parts.next().and_then(|declaration| declaration.rsplit(' ').next()).unwrap_or_default();
            let mut number = |key: &str| {
                let of = parts.next().and_then(|part| part.strip_prefix(key)?.parse().ok());
                of.ok_or_else(|| format!("{line:?}; {key}N was expected"))
            };
            let place = (number("offset:")?, number("size:")?);
            found.fields.insert(name.split('[').next().unwrap_or_default().to_owned(), place);
        }
        if found.id == 0 {
            return Err("no ID: was found".into());
        }
        Ok(found)
    }

    fn of(&self, name: &str, size: usize) -> Result<usize, String> {
        match self.fields.get(name) {
            Some((at, found)) if *found == size => Ok(*at),
            found => Err(format!("field {name} of {size} bytes was expected, found {found:?}")),
        }
    }
}

/// The positions of the fields that we need in the scheduler's tracepoints.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Layout {
    common_type: usize,
    common_flags: usize,
    common_pid: usize,
    switch_id: u64,
    prev_comm: usize,
    prev_pid: usize,
    prev_state: usize,
    next_comm: usize,
    next_pid: usize,
    wakeups: [WakeupLayout; 2],
    interrupts: Option<Interrupts>,
}

/// The positions of the fields of irq:irq_handler_entry, irq_handler_exit, softirq_entry and softirq_exit.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Interrupts {
    /// The id of each tracepoint, and the position of its number.
    each: [(u64, usize); 4],
    /// In the first tracepoint: the field that says where the name is.
    name: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct WakeupLayout {
    id: u64,
    comm: usize,
    pid: usize,
    target_cpu: usize,
}

impl Layout {
    /// Makes the layout of sched_switch, and of sched_wakeup and sched_wakeup_new.
    pub fn new(switch: Offsets, wakeups: [Offsets; 2]) -> Result<Layout, String> {
        let wakeup = |of: &Offsets| -> Result<WakeupLayout, String> {
            Ok(WakeupLayout {
                id: of.id,
                comm: of.of("comm", 16)?,
                pid: of.of("pid", 4)?,
                target_cpu: of.of("target_cpu", 4)?,
            })
        };
        Ok(Layout {
            common_type: switch.of("common_type", 2)?,
            common_flags: switch.of("common_flags", 1)?,
            common_pid: switch.of("common_pid", 4)?,
            switch_id: switch.id,
            prev_comm: switch.of("prev_comm", 16)?,
            prev_pid: switch.of("prev_pid", 4)?,
            prev_state: switch.of("prev_state", 8)?,
            next_comm: switch.of("next_comm", 16)?,
            next_pid: switch.of("next_pid", 4)?,
            wakeups: [wakeup(&wakeups[0])?, wakeup(&wakeups[1])?],
            interrupts: None,
        })
    }

    /// Adds irq_handler_entry, irq_handler_exit, softirq_entry and softirq_exit, in this order.
    pub fn with_interrupts(self, of: [Offsets; 4]) -> Result<Layout, String> {
        let [entry, exit, soft_entry, soft_exit] = &of;
        let number = |of: &Offsets, name: &str| Ok::<_, String>((of.id, of.of(name, 4)?));
        let each = [number(entry, "irq")?, number(exit, "irq")?, number(soft_entry, "vec")?, number(soft_exit, "vec")?];
        let interrupts = Some(Interrupts { each, name: entry.of("name", 4)? });
        Ok(Layout { interrupts, ..self })
    }

    /// Ids of the tracepoints to open.
    pub fn ids(&self) -> Vec<u64> {
        let interrupts = self.interrupts.iter().flat_map(|interrupts| interrupts.each).map(|(id, _)| id);
        [self.switch_id, self.wakeups[0].id, self.wakeups[1].id].into_iter().chain(interrupts).collect()
    }
}

/// Reads numbers out of a record; `None` beyond its end.
struct Bytes<'a>(&'a [u8]);

impl Bytes<'_> {
    fn array<const N: usize>(&self, at: usize) -> Option<[u8; N]> {
        self.0.get(at..at.checked_add(N)?)?.try_into().ok()
    }

    fn u16(&self, at: usize) -> Option<u16> {
        self.array(at).map(u16::from_le_bytes)
    }

    fn u32(&self, at: usize) -> Option<u32> {
        self.array(at).map(u32::from_le_bytes)
    }

    fn u64(&self, at: usize) -> Option<u64> {
        self.array(at).map(u64::from_le_bytes)
    }
}

/// Time and content of a record of a ring with tracepoints; `None` if it is of no interest.
pub(super) fn of_tracepoints(record: &[u8], layout: &Layout, calls: &mut Calls) -> Option<(i64, Record)> {
    let bytes = Bytes(record);
    if bytes.u32(0)? != PERF_RECORD_SAMPLE {
        return of_any(record);
    }
    // header 8, pid and tid 8, time 8, call chain if there is one (length 8, addresses), size of raw data 4, raw data
    let time = bytes.u64(16)? as i64;
    // Raw data begin with a tracepoint's id, which is not 0; the upper half of a length is.
    let chain_end = match bytes.u32(28)? {
        0 => usize::try_from(bytes.u64(24)?).ok()?.checked_mul(8)?.checked_add(32)?,
        _ => 24,
    };
    let chain = record.get(chain_end.min(32)..chain_end)?.chunks_exact(8);
    let raw_start = chain_end.checked_add(4)?;
    let raw = Bytes(record.get(raw_start..raw_start.checked_add(bytes.u32(chain_end)? as usize)?)?);
    let id = u64::from(raw.u16(layout.common_type)?);
    if id == layout.switch_id {
        let state = raw.u64(layout.prev_state)? & NOT_RUNNABLE;
        let address = |bytes: &[u8]| u64::from_le_bytes(bytes.try_into().expect("8 bytes"));
        return Some((
            time,
            Record::Switch {
                prev: raw.u32(layout.prev_pid)?,
                prev_state: state,
                next: raw.u32(layout.next_pid)?,
                prev_comm: Some(raw.array(layout.prev_comm)?),
                next_comm: Some(raw.array(layout.next_comm)?),
                waits_in: if state == 0 { None } else { calls.of(chain.map(address)) },
            },
        ));
    }
    let interrupt =
        layout.interrupts.as_ref().and_then(|of| Some((of, of.each.iter().position(|(known, _)| *known == id)?)));
    if let Some((of, which)) = interrupt {
        let number = raw.u32(of.each[which].1)?;
        return Some((
            time,
            Record::Interrupt(match which {
                0 => Interrupt::Irq { irq: number, name: irq_name(&raw, of.name)? },
                1 => Interrupt::IrqEnd { irq: number },
                2 => Interrupt::Softirq { vector: number },
                _ => Interrupt::SoftirqEnd { vector: number },
            }),
        ));
    }
    let wakeup = layout.wakeups.iter().find(|wakeup| wakeup.id == id)?;
    let in_interrupt = raw.array::<1>(layout.common_flags)?[0] & IN_INTERRUPT != 0;
    Some((
        time,
        Record::Wakeup {
            tid: raw.u32(wakeup.pid)?,
            target_cpu: raw.u32(wakeup.target_cpu)?,
            waker: if in_interrupt { 0 } else { raw.u32(layout.common_pid)? },
            comm: raw.array(wakeup.comm)?,
        },
    ))
}

/// __data_loc: u16 offset, u16 length with the NUL.
fn irq_name(raw: &Bytes<'_>, place: usize) -> Option<IrqName> {
    let (start, length) = (raw.u16(place)? as usize, raw.u16(place + 2)? as usize);
    let bytes = raw.0.get(start..start.checked_add(length)?)?;
    let mut name = [0; 32];
    name.iter_mut().zip(bytes).for_each(|(to, from)| *to = *from);
    Some(name)
}

/// Returns time and content of a record in a ring of context switches. Each switch is there twice, out and in; the
/// first has the reason.
pub(super) fn of_context_switches(record: &[u8]) -> Option<(i64, Record)> {
    let bytes = Bytes(record);
    if bytes.u32(0)? != PERF_RECORD_SWITCH_CPU_WIDE {
        return of_any(record);
    }
    let misc = bytes.u16(4)?;
    if misc & MISC_SWITCH_OUT == 0 {
        return None;
    }
    // header 8, next_prev_pid 4, next_prev_tid 4; then pid 4, tid 4, time 8 of the one that goes
    Some((
        bytes.u64(24)? as i64,
        Record::Switch {
            prev: bytes.u32(20)?,
            prev_state: if misc & MISC_SWITCH_OUT_PREEMPT != 0 { 0 } else { SLEEPING },
            next: bytes.u32(12)?,
            prev_comm: None,
            next_comm: None,
            waits_in: None,
        },
    ))
}

/// Parses the records that all rings have: forks, exits, names, losses. Each ends in pid 4, tid 4, time 8
/// (sample_id_all).
fn of_any(record: &[u8]) -> Option<(i64, Record)> {
    let bytes = Bytes(record);
    let time = bytes.u64(record.len().checked_sub(8)?)? as i64;
    let found = match bytes.u32(0)? {
        PERF_RECORD_FORK => Record::Fork { pid: bytes.u32(8)?, tid: bytes.u32(16)?, parent_pid: bytes.u32(12)? },
        PERF_RECORD_EXIT => Record::Exit { tid: bytes.u32(16)? },
        PERF_RECORD_LOST => Record::Lost { count: bytes.u64(16)? },
        PERF_RECORD_COMM => {
            let name = record.get(16..record.len().checked_sub(16)?)?;
            let mut comm = [0; 16];
            comm.iter_mut().zip(name.iter().take(15)).for_each(|(to, from)| *to = *from);
            Record::Name { tid: bytes.u32(12)?, comm }
        }
        _ => return None,
    };
    Some((time, found))
}

#[cfg(test)]
mod tests {
    use super::*;

    const SWITCH: &str = "name: sched_switch\nID: 372\nformat:
\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;
\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;
\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;

\tfield:char prev_comm[16];\toffset:8;\tsize:16;\tsigned:0;
\tfield:pid_t prev_pid;\toffset:24;\tsize:4;\tsigned:1;
\tfield:long prev_state;\toffset:32;\tsize:8;\tsigned:1;
\tfield:char next_comm[16];\toffset:40;\tsize:16;\tsigned:0;
\tfield:pid_t next_pid;\toffset:56;\tsize:4;\tsigned:1;
";
    const WAKEUP: &str = "ID: 374\n\tfield:char comm[16];\toffset:8;\tsize:16;\tsigned:0;
\tfield:pid_t pid;\toffset:24;\tsize:4;\tsigned:1;\n\tfield:int target_cpu;\toffset:32;\tsize:4;\tsigned:1;\n";

    fn layout() -> Layout {
        let wakeup = Offsets::parse(WAKEUP).unwrap();
        let new = Offsets { id: 375, ..wakeup.clone() };
        Layout::new(Offsets::parse(SWITCH).unwrap(), [wakeup, new]).unwrap()
    }

    fn comm(name: &str) -> Comm {
        let mut comm = [0; 16];
        comm[..name.len()].copy_from_slice(name.as_bytes());
        comm
    }

    fn record(kind: u32, misc: u16, body: &[u8]) -> Vec<u8> {
        let mut bytes = kind.to_le_bytes().to_vec();
        bytes.extend(misc.to_le_bytes());
        bytes.extend((8 + body.len() as u16).to_le_bytes());
        bytes.extend(body);
        bytes
    }

    fn words(words: &[u32]) -> Vec<u8> {
        words.iter().flat_map(|word| word.to_le_bytes()).collect()
    }

    /// Two addresses that nothing is known of.
    const CHAIN: [u64; 3] = [2, 1, 2];

    fn sample(time: u64, raw: &[u8]) -> Vec<u8> {
        record(
            9,
            0,
            &[
                words(&[7, 7]),
                time.to_le_bytes().to_vec(),
                CHAIN.map(u64::to_le_bytes).concat(),
                words(&[raw.len() as u32]),
                raw.to_vec(),
            ]
            .concat(),
        )
    }

    fn switch(state: u64) -> Vec<u8> {
        let mut raw = vec![0; 68];
        raw[0..2].copy_from_slice(&372u16.to_le_bytes());
        raw[8..24].copy_from_slice(&comm("ndt"));
        raw[24..28].copy_from_slice(&100u32.to_le_bytes());
        raw[32..40].copy_from_slice(&state.to_le_bytes());
        raw[40..56].copy_from_slice(&comm("burner"));
        raw[56..60].copy_from_slice(&200u32.to_le_bytes());
        sample(5_000, &raw)
    }

    #[test]
    fn a_switch_is_read_by_the_offsets_of_its_format_and_a_preempted_thread_has_state_0() {
        let expected = |prev_state| Record::Switch {
            prev: 100,
            prev_state,
            next: 200,
            prev_comm: Some(comm("ndt")),
            next_comm: Some(comm("burner")),
            waits_in: None,
        };
        // R, R+ of Linux 4.14 and later, R+ before, S, D.
        for (state, told) in [(0, 0), (0x100, 0), (0x800, 0), (1, 1), (2, 2)] {
            assert_eq!(
                of_tracepoints(&switch(state), &layout(), &mut Calls::default()),
                Some((5_000, expected(told))),
                "{state:#x}"
            );
        }
    }

    #[test]
    fn a_wakeup_by_an_interrupt_has_no_waker() {
        for (flags, told) in [(0u8, 300), (1, 300), (0x08, 0), (0x10, 0)] {
            let mut raw = vec![0; 36];
            raw[0..2].copy_from_slice(&375u16.to_le_bytes());
            raw[2] = flags;
            raw[4..8].copy_from_slice(&300u32.to_le_bytes());
            raw[8..24].copy_from_slice(&comm("ndt"));
            raw[24..28].copy_from_slice(&100u32.to_le_bytes());
            raw[32..36].copy_from_slice(&1u32.to_le_bytes());
            let expected = Record::Wakeup { tid: 100, target_cpu: 1, waker: told, comm: comm("ndt") };
            assert_eq!(
                of_tracepoints(&sample(9, &raw), &layout(), &mut Calls::default()),
                Some((9, expected)),
                "{flags:#x}"
            );
        }
    }

    #[test]
    fn interrupts_are_read_with_the_name_of_their_handler() {
        let field = |name: &str, at: usize| format!("\tfield:int {name};\toffset:{at};\tsize:4;\tsigned:1;\n");
        let of = |id: u64, fields: String| Offsets::parse(&format!("ID: {id}\n{fields}")).unwrap();
        let entry = of(80, field("irq", 8) + &field("name", 12));
        let layout = layout()
            .with_interrupts([entry, of(81, field("irq", 8)), of(82, field("vec", 8)), of(83, field("vec", 8))])
            .unwrap();
        assert_eq!(layout.ids(), [372, 374, 375, 80, 81, 82, 83]);
        let mut name = [0; 32];
        name[..4].copy_from_slice(b"eth0");
        let expected = [
            Interrupt::Irq { irq: 27, name },
            Interrupt::IrqEnd { irq: 27 },
            Interrupt::Softirq { vector: 27 },
            Interrupt::SoftirqEnd { vector: 27 },
        ];
        for (id, expected) in (80u16..).zip(expected) {
            let mut raw = vec![0; 16];
            raw[0..2].copy_from_slice(&id.to_le_bytes());
            raw[8..12].copy_from_slice(&27u32.to_le_bytes());
            raw[12..16].copy_from_slice(&(16u32 | 5 << 16).to_le_bytes());
            raw.extend(b"eth0\0");
            assert_eq!(
                of_tracepoints(&sample(9, &raw), &layout, &mut Calls::default()),
                Some((9, Record::Interrupt(expected))),
                "{id}"
            );
            assert_eq!(of_tracepoints(&sample(9, &raw[..11]), &layout, &mut Calls::default()), None, "cut short");
        }
    }

    #[test]
    fn forks_exits_names_losses_and_plain_context_switches_are_read() {
        let id = [words(&[7, 8]), 77u64.to_le_bytes().to_vec()].concat(); // pid, tid, time
        let fork = record(7, 0, &[words(&[10, 20, 11, 21, 0, 0]), id.clone()].concat());
        assert_eq!(
            of_tracepoints(&fork, &layout(), &mut Calls::default()),
            Some((77, Record::Fork { pid: 10, tid: 11, parent_pid: 20 }))
        );
        let exit = record(4, 0, &[words(&[10, 20, 11, 21, 0, 0]), id.clone()].concat());
        assert_eq!(of_context_switches(&exit), Some((77, Record::Exit { tid: 11 })));
        let lost = record(2, 0, &[3u64.to_le_bytes().to_vec(), 42u64.to_le_bytes().to_vec(), id.clone()].concat());
        assert_eq!(of_context_switches(&lost), Some((77, Record::Lost { count: 42 })));
        let name = record(3, 0, &[words(&[10, 11]), b"listener\0\0\0\0\0\0\0\0".to_vec(), id.clone()].concat());
        assert_eq!(of_context_switches(&name), Some((77, Record::Name { tid: 11, comm: comm("listener") })));
        let out = record(15, 1 << 13, &[words(&[30, 31]), id.clone()].concat());
        let told = |prev_state| Record::Switch {
            prev: 8,
            prev_state,
            next: 31,
            prev_comm: None,
            next_comm: None,
            waits_in: None,
        };
        assert_eq!(of_context_switches(&out), Some((77, told(1))));
        let taken = record(15, 3 << 13, &[words(&[30, 31]), id.clone()].concat());
        assert_eq!(of_context_switches(&taken), Some((77, told(0))));
        assert_eq!(of_context_switches(&record(15, 0, &[words(&[30, 31]), id].concat())), None, "in: told by out");
    }

    #[test]
    fn records_that_are_too_short_or_of_another_layout_are_nothing() {
        let whole = switch(0);
        for length in 0..whole.len() {
            assert_eq!(of_tracepoints(&whole[..length], &layout(), &mut Calls::default()), None, "{length}");
            of_context_switches(&whole[..length]);
        }
        let error = Offsets::parse("ID: 1\n\tfield:pid_t pid;\toffset:x;\tsize:4;\n").unwrap_err();
        assert!(error.contains("offset:N was expected"), "{error}");
        let error = Layout::new(Offsets::parse("ID: 1\n").unwrap(), Default::default()).unwrap_err();
        assert!(error.contains("common_type"), "{error}");
    }
}
