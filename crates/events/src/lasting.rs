//! Finds events that create what later events name: they are needed as long as those are read, however old they are.

use crate::payload::{Handle, Payload};

/// What a lasting event is about. A later event with an equal value replaces it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Lasting {
    kind: u16,
    of: [u64; 2],
}

impl Payload {
    /// Returns what this event creates or relates that later events name by its handle; `None` if it only matters when
    /// it happens.
    pub fn lasting(&self) -> Option<Lasting> {
        use Payload as P;
        let one = |handle: Handle| Some([handle.0, 0]);
        let of = match *self {
            P::RclInit { context } => one(context),
            P::RclNodeInit { node, .. } => one(node),
            P::RmwPublisherInit { rmw_publisher, .. } | P::RmwPublisherQos { rmw_publisher, .. } => one(rmw_publisher),
            P::RclPublisherInit { publisher, .. } => one(publisher),
            P::RmwSubscriptionInit { rmw_subscription, .. } | P::RmwSubscriptionQos { rmw_subscription, .. } => {
                one(rmw_subscription)
            }
            P::RclSubscriptionInit { subscription, .. } => one(subscription),
            // A subscription has one object, and another one for messages of its own process.
            P::RclcppSubscriptionInit { object, .. } => one(object),
            P::RclcppSubscriptionCallbackAdded { object, .. } => one(object),
            P::RclServiceInit { service, .. } => one(service),
            P::RclcppServiceCallbackAdded { service, .. } => one(service),
            P::RmwClientInit { rmw_client, .. } => one(rmw_client),
            P::RclClientInit { client, .. } => one(client),
            P::RclTimerInit { timer, .. } => one(timer),
            P::RclcppTimerCallbackAdded { timer, .. } => one(timer),
            P::RclcppTimerLinkNode { timer, .. } => one(timer),
            P::RclcppCallbackRegister { callback, .. } => one(callback.handle),
            P::RclLifecycleStateMachineInit { state_machine, .. } => one(state_machine),
            P::RclLifecycleTransition { state_machine, .. } => one(state_machine),
            P::RclcppIpbToSubscription { ipb, .. } => one(ipb),
            P::RclcppBufferToIpb { buffer, .. } => one(buffer),
            P::RclcppConstructRingBuffer { buffer, .. } => one(buffer),
            P::MessageLinkPeriodicAsync { subscription, publisher }
            | P::MessageLinkPartialSync { subscription, publisher } => Some([subscription.0, publisher.0]),
            P::RclpyCallbacks { .. } => Some([0, 0]),
            P::RclpyClientCallbackAdded { callback, .. } => one(callback),
            P::Ros1NodeInit { node, .. } => one(node),
            P::Ros1PublisherInit { publisher, .. } => one(publisher),
            P::Ros1SubscriberLinkInit { link, .. } => one(link),
            P::Ros1PublisherLinkInit { link, .. } => one(link),
            P::Ros1SubscriptionInit { callback, .. } => one(callback),
            P::Ros1SubscriptionEnd { callback } => one(callback),
            P::Ros1TimerInit { callback, .. } => one(callback),
            P::Ros1TimerPeriod { callback, .. } => one(callback),
            P::Ros1ServiceInit { callback, .. } => one(callback),
            P::RclcppCallbackGroupAdd { object, .. } => one(object),
            P::CallbackGroupAddTimer { timer: handle, .. }
            | P::CallbackGroupAddSubscription { subscription: handle, .. }
            | P::CallbackGroupAddService { service: handle, .. }
            | P::CallbackGroupAddClient { client: handle, .. }
            | P::AddCallbackGroup { group: handle, .. }
            | P::ConstructExecutor { executor: handle, .. }
            | P::ExecutorEntityCollectorToExecutor { collector: handle, .. } => one(handle),
            P::RclActionInit { action } => one(action),
            P::BoardMatched { endpoint, .. } => one(endpoint),
            P::NodeSignalInit { node, signal, .. } => Some([node.0, signal]),
            _ => None,
        };
        of.map(|of| Lasting { kind: self.kind(), of })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::{Format, EIGHT};
    use crate::payload::Fields;
    use crate::record::Records;
    use crate::{Action, Texts};

    #[test]
    fn all_that_is_made_lasts_and_of_what_is_linked_all_but_messages() {
        for (kind, name, words) in Payload::KINDS {
            let (words, mut texts) = (vec![1; 8 * words], Texts::default());
            let records = Records::new(&Format::Words, 0);
            let mut fields = Fields::new(&words, EIGHT, &records, &[0; 8], &mut texts);
            let payload = Payload::read(*kind, &mut fields).expect("a kind");
            let made = payload.action() == Action::Init;
            let linked = payload.action() == Action::Link
                && !["ros1_serialized", "message_construct", "node_uses"].contains(name);
            let ended = ["rcl_lifecycle_transition", "ros1_subscription_end"].contains(name);
            assert_eq!(payload.lasting().is_some(), made || linked || ended, "{name}");
        }
    }
}
