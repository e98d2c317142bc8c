//! Tests of the kinds of traces against those of the event file.

use super::*;

#[test]
fn every_kind_has_the_number_and_the_words_of_the_event_file() {
    let ranges = [
        number::rcl_init..=number::message_construct,
        number::callback_group_add_timer..=number::executor_entity_collector_to_executor,
        number::kernel_events_lost..=number::softirq_exit,
    ];
    let here = |number: &u16| ranges.iter().any(|numbers| numbers.contains(number));
    let expected: Vec<_> = Payload::KINDS.iter().filter(|(number, ..)| here(number)).collect();
    assert_eq!(KINDS.len(), expected.len());
    for (kind, (number, name, words)) in KINDS.iter().zip(expected) {
        let own = kind.name.strip_prefix("irq_").map_or(kind.name.into(), |rest| rest.replace("handler", "irq"));
        assert_eq!((kind.number, own.as_str()), (*number, *name));
        let of_pairs = kind.fields.iter().filter(|f| f.shape == Shape::handles).count();
        assert_eq!(kind.words() + of_pairs, *words, "{name}");
        let texts = kind.fields.iter().filter(|f| f.shape == Shape::text).count();
        assert_eq!(texts, Payload::texts(*number), "{name}");
        assert!(*words <= WORDS && texts <= TEXTS);
        let mut into = Payload::RclcppExecutorGetNextReady {};
        assert!(payload(kind.number, Listed { words: [].iter(), texts: [].iter() }, &mut into));
        assert_eq!(into.name(), own);
    }
}

#[test]
fn caret_repeats_initialisation_and_stamps_messages() {
    assert_eq!(Kind::named("ros2_caret:rcl_node_init"), Kind::named("ros2:rcl_node_init"));
    assert_eq!(Kind::named("ros2_caret:dds_bind_addr_to_stamp").map(|k| k.number), Some(number::rmw_publish));
    assert_eq!(Kind::named("ros2_caret:dds_write").map(|k| k.number), Some(number::rmw_publish));
    for kind in KINDS.iter().filter(|kind| kind.repeated_by_caret()) {
        assert!(
            kind.words() <= usize::from(crate::layout::word::SINCE),
            "{}: its last word is when it came to be",
            kind.name
        );
    }
    for not_understood in ["ros2_caret:callback_start", "dds:read", "ros2:sched_switch", "callback_start"] {
        assert_eq!(Kind::named(not_understood), None, "{not_understood}");
    }
}

#[test]
fn the_kernel_has_no_provider_and_three_events_for_a_wake_up() {
    for name in ["sched_waking", "sched_wakeup", "sched_wakeup_new"] {
        assert_eq!(Kind::named(name).map(|k| k.number), Some(number::sched_wakeup), "{name}");
    }
    assert!(KINDS.iter().all(|k| k.of_kernel() == (Kind::named(k.name) == Some(k))));
}
