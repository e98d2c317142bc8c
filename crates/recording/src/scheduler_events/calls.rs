//! What a thread waits in, by the kernel's call chain at its switch: a system call, a page fault, else the function
//! that called the scheduler, because a chain is short ([`MOST_CALLS`](crate::perf::MOST_CALLS)). The names are those
//! of /proc/kallsyms.

use std::collections::HashMap;
use std::fs;

/// Prefixes of the functions that are system calls, by architecture, and of those that the compiler jumps to from them.
const SYSTEM_CALLS: [&str; 7] =
    ["__x64_sys_", "__ia32_sys_", "__arm64_sys_", "__riscv_sys_", "__se_sys_", "__do_sys_", "ksys_"];
/// Functions that serve a page fault.
const PAGE_FAULTS: [&str; 4] = ["exc_page_fault", "asm_exc_page_fault", "do_page_fault", "do_mem_abort"];
/// Functions that wait on behalf of one system call, which is too far out in a short chain.
const WAITS: [(&str, &str); 3] =
    [("futex_wait", "futex"), ("__futex_wait", "futex"), ("do_nanosleep", "clock_nanosleep")];
/// Functions of the scheduler, between a wait and its switch.
const SCHEDULER: [&str; 5] = ["__schedule", "schedule", "io_schedule", "preempt_schedule", "__cond_resched"];
/// Addresses from here on are marks in a chain (PERF_CONTEXT_KERNEL and its like).
const MARKS: u64 = -4095i64 as u64;

/// What a thread waits in, by its number in [`Calls`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Call(u16);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Function {
    Scheduler,
    /// A system call, or a page fault.
    Entry(Call),
    Other(Call),
}

/// Names of what threads wait in, and what each address is.
#[derive(Default)]
pub(super) struct Calls {
    /// Read once the first chain comes.
    symbols: Option<Symbols>,
    names: Vec<String>,
    functions: HashMap<u64, Option<Function>>,
}

impl Calls {
    /// What waits where a chain of return addresses leads from, innermost first; `None` if no address has a name.
    pub fn of(&mut self, chain: impl Iterator<Item = u64>) -> Option<Call> {
        let mut first = None;
        for address in chain.filter(|address| *address < MARKS) {
            match self.function(address) {
                Some(Function::Entry(call)) => return Some(call),
                Some(Function::Other(call)) => first = first.or(Some(call)),
                Some(Function::Scheduler) | None => {}
            }
        }
        first
    }

    /// `futex`, `page fault`.
    pub fn name(&self, call: Call) -> &str {
        &self.names[call.0 as usize]
    }

    fn function(&mut self, address: u64) -> Option<Function> {
        if let Some(known) = self.functions.get(&address) {
            return *known;
        }
        let symbols = self.symbols.get_or_insert_with(|| {
            // A kernel that hides its symbols names no wait.
            Symbols::parse(fs::read_to_string("/proc/kallsyms").unwrap_or_default())
        });
        let found = symbols.name(address).map(str::to_owned);
        let function = found.and_then(|name| self.classify(&name));
        self.functions.insert(address, function);
        function
    }

    fn classify(&mut self, name: &str) -> Option<Function> {
        // The compiler appends .part.0, .isra.0 and the like to clones.
        let name = name.split('.').next().unwrap_or(name);
        if SCHEDULER.iter().any(|of| name == *of || name.strip_prefix(of).is_some_and(|rest| rest.starts_with('_'))) {
            return Some(Function::Scheduler);
        }
        if PAGE_FAULTS.contains(&name) {
            return Some(Function::Entry(self.call("page fault")?));
        }
        let wait = WAITS.iter().find(|(prefix, _)| name.starts_with(prefix)).map(|(_, system_call)| *system_call);
        match wait.or_else(|| SYSTEM_CALLS.iter().find_map(|prefix| name.strip_prefix(prefix))) {
            Some(system_call) => Some(Function::Entry(self.call(system_call)?)),
            None => Some(Function::Other(self.call(name)?)),
        }
    }

    fn call(&mut self, name: &str) -> Option<Call> {
        let place = self.names.iter().position(|known| known == name).unwrap_or_else(|| {
            self.names.push(name.to_owned());
            self.names.len() - 1
        });
        Some(Call(u16::try_from(place).ok()?))
    }
}

/// The functions of the kernel by address.
struct Symbols {
    text: String,
    /// Address, and where its name begins in the text.
    starts: Vec<(u64, u32)>,
}

impl Symbols {
    /// Parses lines `ffffffff81000000 T _stext`. Without permission all addresses are 0: then there are none.
    fn parse(text: String) -> Symbols {
        let mut starts = Vec::new();
        let mut begin = 0;
        for line in text.split_inclusive('\n') {
            let mut words = line.splitn(3, ' ');
            let address = words.next().and_then(|word| u64::from_str_radix(word, 16).ok()).filter(|at| *at != 0);
            let is_function = words.next().is_some_and(|kind| matches!(kind, "t" | "T" | "w" | "W"));
            if let (Some(address), true, Some(name)) = (address, is_function, words.next()) {
                starts.push((address, (begin + line.len() - name.len()) as u32));
            }
            begin += line.len();
        }
        starts.sort_by_key(|(address, _)| *address);
        Symbols { text, starts }
    }

    /// The function that an address lies in.
    fn name(&self, address: u64) -> Option<&str> {
        let before = self.starts.partition_point(|(start, _)| *start <= address);
        let (_, at) = self.starts[before.checked_sub(1)?];
        self.text[at as usize..].split_ascii_whitespace().next()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KALLSYMS: &str = "ffffffff81000000 T _stext\nffffffff81000100 t __schedule\nffffffff81000200 T schedule\n\
        ffffffff81000280 T schedule_timeout\nffffffff81000300 t futex_wait_queue\nffffffff81000400 D jiffies\n\
        ffffffff81000500 T __x64_sys_futex\nffffffff81000600 T do_syscall_64\n\
        ffffffff81000700 t folio_wait_bit.isra.0\nffffffff81000800 T exc_page_fault\n\
        ffffffff81000900 t anon_pipe_read\nffffffff81000a00 T ksys_read\nffffffffc0000000 t load_module\t[ext4]\n";

    fn calls() -> Calls {
        Calls { symbols: Some(Symbols::parse(KALLSYMS.into())), ..Calls::default() }
    }

    fn name(calls: &mut Calls, chain: &[u64]) -> Option<String> {
        let call = calls.of(chain.iter().map(|low| if *low < 0x1000 { 0xffffffff81000000 + low } else { *low }));
        call.map(|call| calls.name(call).to_owned())
    }

    #[test]
    fn a_wait_is_named_by_its_system_call_else_by_the_function_that_waits() {
        let mut calls = calls();
        let kernel = -128i64 as u64;
        assert_eq!(name(&mut calls, &[kernel, 0x120, 0x220, 0x540, 0x610]).as_deref(), Some("futex"));
        assert_eq!(name(&mut calls, &[kernel, 0x120, 0x220, 0x310]).as_deref(), Some("futex"), "cut short");
        assert_eq!(name(&mut calls, &[kernel, 0x120, 0x220, 0x290, 0x710, 0x820]).as_deref(), Some("page fault"));
        assert_eq!(name(&mut calls, &[kernel, 0x120, 0x220, 0x290, 0x710]).as_deref(), Some("folio_wait_bit"));
        assert_eq!(name(&mut calls, &[kernel, 0x120, 0x220, 0x910, 0xa10]).as_deref(), Some("read"));
        assert_eq!(name(&mut calls, &[kernel, 0x120, 0xffffffffc0000010]).as_deref(), Some("load_module"));
        assert_eq!(name(&mut calls, &[kernel, 0x120, 0x220]), None, "nobody but the scheduler");
        assert_eq!(name(&mut calls, &[0x10_0000]), None, "before the first function");
    }

    #[test]
    fn a_kernel_that_hides_its_addresses_names_nothing() {
        let hidden = Symbols::parse("0000000000000000 T schedule\n0000000000000000 T __x64_sys_futex\n".into());
        let mut calls = Calls { symbols: Some(hidden), ..Calls::default() };
        assert_eq!(name(&mut calls, &[0x120, 0x220]), None);
    }
}
