//! Finds out when the kernel can be preempted.

use std::process::Command;

/// Preemption model of a kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Preemption {
    /// PREEMPT_RT.
    RealTime,
    /// Kernel code is preempted except under locks.
    Full,
    /// Kernel code is preempted at the tick (6.13 on).
    Lazy,
    /// At chosen points.
    Voluntary,
    /// Only when it returns to user space.
    None,
    /// PREEMPT_DYNAMIC, whose model at present cannot be read.
    DynamicUnknown,
}

/// Returns the current model of this kernel, if it can be read.
pub fn at_present() -> Option<Preemption> {
    let text = |path: &str| std::fs::read_to_string(path).ok();
    let release = text("/proc/sys/kernel/osrelease");
    let configuration = release.and_then(|release| text(&format!("/boot/config-{}", release.trim()))).or_else(|| {
        let unpacked = Command::new("gzip").args(["-dc", "/proc/config.gz"]).output().ok()?;
        unpacked.status.success().then(|| String::from_utf8_lossy(&unpacked.stdout).into_owned())
    });
    let read = |path| text(path).unwrap_or_default();
    model(
        &read("/proc/sys/kernel/version"),
        &read("/sys/kernel/debug/sched/preempt"),
        &read("/proc/cmdline"),
        &configuration.unwrap_or_default(),
    )
}

/// Returns the model of a kernel from `uname -v`, the debug file (`none voluntary (full)`), the boot command line, and
/// its build configuration. Each is empty if it cannot be read.
fn model(version: &str, debug: &str, command_line: &str, configuration: &str) -> Option<Preemption> {
    let named = |name: &str| match name {
        "full" => Some(Preemption::Full),
        "lazy" => Some(Preemption::Lazy),
        "voluntary" => Some(Preemption::Voluntary),
        "none" => Some(Preemption::None),
        _ => None,
    };
    let words: Vec<&str> = version.split_whitespace().collect();
    if words.contains(&"PREEMPT_RT") {
        return Some(Preemption::RealTime);
    }
    let built = |option: &str| configuration.lines().any(|line| line.strip_prefix(option) == Some("=y"));
    let of_build = [
        ("CONFIG_PREEMPT_RT", Preemption::RealTime),
        ("CONFIG_PREEMPT_LAZY", Preemption::Lazy),
        ("CONFIG_PREEMPT", Preemption::Full),
        ("CONFIG_PREEMPT_VOLUNTARY", Preemption::Voluntary),
        ("CONFIG_PREEMPT_NONE", Preemption::None),
    ]
    .into_iter()
    .find(|(option, _)| built(option))
    .map(|(_, model)| model);
    let at_present = debug.split_once('(').and_then(|(_, rest)| named(rest.split(')').next()?));
    let at_boot = command_line.split_whitespace().rev().find_map(|word| word.strip_prefix("preempt=")).and_then(named);
    if words.contains(&"PREEMPT_DYNAMIC") || built("CONFIG_PREEMPT_DYNAMIC") {
        return at_present.or(at_boot).or(of_build).or(Some(Preemption::DynamicUnknown));
    }
    if words.contains(&"PREEMPT") {
        return Some(Preemption::Full);
    }
    of_build
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_model_at_present_comes_before_that_of_boot_and_of_the_build() {
        let dynamic = "#1 SMP PREEMPT_DYNAMIC Debian";
        let build = "CONFIG_PREEMPT_NONE=y\n# CONFIG_PREEMPT is not set\n";
        assert_eq!(model(dynamic, "none voluntary (full)", "preempt=none", build), Some(Preemption::Full));
        assert_eq!(model(dynamic, "", "quiet preempt=voluntary", build), Some(Preemption::Voluntary));
        assert_eq!(model(dynamic, "", "quiet", build), Some(Preemption::None));
        assert_eq!(model(dynamic, "", "", ""), Some(Preemption::DynamicUnknown));
    }

    #[test]
    fn a_fixed_model_is_that_of_the_build() {
        assert_eq!(model("#1 SMP PREEMPT_RT Debian", "", "", ""), Some(Preemption::RealTime));
        assert_eq!(model("#1 SMP PREEMPT Debian", "", "", ""), Some(Preemption::Full));
        assert_eq!(
            model("#1 SMP Debian", "", "preempt=full", "CONFIG_PREEMPT_VOLUNTARY=y\n"),
            Some(Preemption::Voluntary)
        );
        assert_eq!(model("#1 SMP Debian", "", "", ""), None);
    }
}
