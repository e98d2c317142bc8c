//! A task, ready to run.

use crate::library::Kind;
use crate::Error;
use std::ffi::{c_char, c_void, CStr, CString};
use std::marker::PhantomData;
use tacho_abi::task as abi;
use tacho_abi::{Header, ERROR_SIZE};
use tacho_workload::tasks::TaskSignal;

/// The properties of a task that is to be made.
#[derive(Debug, Clone, Copy)]
pub struct Config<'a> {
    /// The node that runs it.
    pub node: &'a str,
    /// Seed of what it draws.
    pub seed: u64,
    /// Parameters as written in the workload.
    pub parameters: &'a [(String, String)],
    /// The node's subscriptions.
    pub inputs: &'a [Endpoint<'a>],
    /// The node's publications.
    pub outputs: &'a [Endpoint<'a>],
}

/// A subscription or a publication.
#[derive(Debug, Clone, Copy)]
pub struct Endpoint<'a> {
    /// Its topic.
    pub topic: &'a str,
    /// Its message type; empty if the middleware chose it.
    pub message_type: &'a str,
    /// Bytes of data that a message carries, or at most carries.
    pub size: usize,
}

/// The latest message of an input.
#[repr(transparent)]
pub struct Input<'a>(abi::TaskInput, PhantomData<&'a [u8]>);

impl<'a> Input<'a> {
    /// No message has come yet.
    pub fn none() -> Self {
        let data = std::ptr::null();
        Input(abi::TaskInput { header: Header::default(), data, size: 0, is_new: 0, reserved: 0 }, PhantomData)
    }

    /// A message, and whether it came since the last call.
    #[inline]
    pub fn message(header: Header, data: &'a [u8], is_new: bool) -> Self {
        let (size, data) = (data.len(), data.as_ptr().cast());
        Input(abi::TaskInput { header, data, size, is_new: is_new.into(), reserved: 0 }, PhantomData)
    }
}

/// The buffer of the next message of an output.
#[repr(transparent)]
pub struct Output<'a>(abi::TaskOutput, PhantomData<&'a mut [u8]>);

impl<'a> Output<'a> {
    /// The node does not publish it in this call.
    pub fn none() -> Self {
        Output(abi::TaskOutput { data: std::ptr::null_mut(), size: 0, publish: 0, reserved: 0 }, PhantomData)
    }

    /// A buffer that the task may fill.
    #[inline]
    pub fn buffer(data: &'a mut [u8]) -> Self {
        let (size, data) = (data.len(), data.as_mut_ptr().cast());
        Output(abi::TaskOutput { data, size, publish: 0, reserved: 0 }, PhantomData)
    }

    /// Whether the task wants to publish it.
    #[inline]
    pub fn is_published(&self) -> bool {
        !self.0.data.is_null() && self.0.publish != 0
    }
}

/// A figure of a task's quality.
#[derive(Debug, Clone, PartialEq)]
pub struct Figure {
    /// Name without a unit.
    pub name: String,
    /// Unit; empty for a count or a ratio.
    pub unit: String,
    /// Value.
    pub value: f64,
}

/// A value of a signal that a task reports.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sample {
    /// Number of the signal of its kind.
    pub signal: u32,
    /// Entry of a list; 0 for all that is no list.
    pub entry: u32,
    /// The instant that it describes.
    pub at_ns: i64,
    /// Value.
    pub value: f64,
}

/// Receives what a task reports in an activation.
pub type OnSample<'a> = &'a mut dyn FnMut(Sample);

/// A task. One thread at a time.
pub struct Task {
    kind: &'static abi::TaskKind,
    raw: abi::RawTask,
    name: String,
    signals: Vec<TaskSignal>,
    inputs: usize,
    outputs: usize,
    error: Box<[c_char; ERROR_SIZE]>,
}

// SAFETY: task.h: used from one thread at a time, which &mut self ensures.
unsafe impl Send for Task {}

impl Task {
    /// Makes a task of this kind.
    pub fn create(kind: &Kind, config: &Config) -> Result<Task, Error> {
        let values = kind.of.values(config.parameters).map_err(|errors| {
            Error::Parameter(errors.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "))
        })?;
        let c_text = |text: &str| CString::new(text).map_err(|_| Error::Text(text.into()));
        let node = c_text(config.node)?;
        let mut texts = Vec::new(); // moving a CString does not move its bytes
        let mut raw = |endpoints: &[Endpoint]| -> Result<Vec<abi::TaskEndpoint>, Error> {
            let one = |endpoint: &Endpoint| {
                let (topic, message_type) = (c_text(endpoint.topic)?, c_text(endpoint.message_type)?);
                let raw = abi::TaskEndpoint {
                    topic: topic.as_ptr(),
                    message_type: message_type.as_ptr(),
                    size: endpoint.size,
                };
                texts.extend([topic, message_type]);
                Ok(raw)
            };
            endpoints.iter().map(one).collect()
        };
        let (inputs, outputs) = (raw(config.inputs)?, raw(config.outputs)?);
        let of_kind = kind.of.texts(config.parameters);
        let of_kind = of_kind.iter().map(|text| c_text(text)).collect::<Result<Vec<_>, Error>>()?;
        let pointers: Vec<*const c_char> = of_kind.iter().map(|text| text.as_ptr()).collect();
        let raw = abi::TaskConfig {
            node: node.as_ptr(),
            seed: config.seed,
            values: values.as_ptr(),
            inputs: inputs.as_ptr(),
            input_count: inputs.len(),
            outputs: outputs.as_ptr(),
            output_count: outputs.len(),
            texts: pointers.as_ptr(),
        };
        let mut error = Box::new([0; ERROR_SIZE]);
        // SAFETY: the configuration lives through the call.
        let task = unsafe { (kind.table.create)(&raw, error.as_mut_ptr()) };
        let (inputs, outputs) = (inputs.len(), outputs.len());
        let (name, signals) = (kind.of.name.clone(), kind.of.signals.clone());
        let task = Task { kind: kind.table, raw: task, name, signals, inputs, outputs, error };
        if task.raw.is_null() {
            return Err(task.failed());
        }
        Ok(task)
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Names and units of the signals that it reports, in the order of their numbers.
    pub fn signals(&self) -> &[TaskSignal] {
        &self.signals
    }

    /// One activation, with an entry for each subscription and publication. `on_sample` is absent if nobody records
    /// signals.
    #[inline]
    pub fn run(
        &mut self,
        now_ns: i64,
        inputs: &[Input<'_>],
        outputs: &mut [Output<'_>],
        on_sample: Option<OnSample<'_>>,
    ) -> Result<(), Error> {
        unsafe extern "C" fn report(context: *mut c_void, signal: u32, entry: u32, at_ns: i64, value: f64) {
            // SAFETY: the context is the function below, which lives through the call that reports.
            let on_sample = unsafe { &mut *context.cast::<OnSample<'_>>() };
            on_sample(Sample { signal, entry, at_ns, value });
        }
        assert_eq!((inputs.len(), outputs.len()), (self.inputs, self.outputs), "endpoints of the task");
        let mut on_sample = on_sample;
        let call = abi::TaskCall {
            now_ns,
            inputs: inputs.as_ptr().cast(),
            outputs: outputs.as_mut_ptr().cast(),
            report: on_sample.is_some().then_some(report as abi::OnReport),
            report_context: on_sample.as_mut().map_or(std::ptr::null_mut(), |of| (&raw mut *of).cast()),
        };
        // SAFETY: Input and Output have the layout of the C structs, and all that they point to lives through the call.
        match unsafe { (self.kind.run)(self.raw, &call, self.error.as_mut_ptr()) } {
            result if result >= 0 => Ok(()),
            _ => Err(self.failed()),
        }
    }

    /// What it reports of its quality. Asked once, at the end.
    pub fn figures(&mut self) -> Vec<Figure> {
        unsafe extern "C" fn add(context: *mut c_void, name: *const c_char, unit: *const c_char, value: f64) {
            // SAFETY: the context is the vector below, and the texts are NUL-terminated.
            let (figures, name, unit) =
                unsafe { (&mut *context.cast::<Vec<Figure>>(), CStr::from_ptr(name), CStr::from_ptr(unit)) };
            let text = |text: &CStr| text.to_string_lossy().into_owned();
            figures.push(Figure { name: text(name), unit: text(unit), value });
        }
        let mut figures: Vec<Figure> = Vec::new();
        if let Some(function) = self.kind.figures {
            // SAFETY: the task is alive, and the vector lives through the call.
            unsafe { function(self.raw, add, (&raw mut figures).cast()) }
        }
        figures
    }

    #[cold]
    fn failed(&self) -> Error {
        let mut text = *self.error;
        text[ERROR_SIZE - 1] = 0;
        // SAFETY: inside the buffer; the bytes before that NUL are the task's text with its own NUL, or nothing.
        let cause = unsafe { CStr::from_ptr(text.as_ptr()) }.to_string_lossy().into_owned();
        Error::Failed { name: self.name.clone(), cause }
    }
}

impl Drop for Task {
    fn drop(&mut self) {
        if !self.raw.is_null() {
            // SAFETY: made by this kind, destroyed once.
            unsafe { (self.kind.destroy)(self.raw) }
        }
    }
}
