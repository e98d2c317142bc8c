//! The text of a plugin that refuses a request.

use crate::Error;
use std::ffi::{c_char, CStr};
use tacho_abi as abi;

/// Calls the plugin with a buffer for its text; turns a negative result into an error with that text.
pub(crate) fn checked(action: impl FnOnce() -> String, call: impl FnOnce(*mut c_char) -> i32) -> Result<i32, Error> {
    Words::new().checked(action, call)
}

/// A buffer for a plugin's text. The code that every message passes keeps one and touches it only if a call fails.
pub(crate) struct Words(Box<[c_char; abi::ERROR_SIZE]>);

impl Words {
    pub(crate) fn new() -> Words {
        Words(Box::new([0; abi::ERROR_SIZE]))
    }

    /// Does the same as [`checked`] with a buffer of its own.
    #[inline]
    pub(crate) fn checked(
        &mut self,
        action: impl FnOnce() -> String,
        call: impl FnOnce(*mut c_char) -> i32,
    ) -> Result<i32, Error> {
        let result = call(self.0.as_mut_ptr());
        if result >= 0 {
            return Ok(result);
        }
        Err(self.refused(result, action()))
    }

    #[cold]
    fn refused(&mut self, result: i32, action: String) -> Error {
        self.0[abi::ERROR_SIZE - 1] = 0;
        // SAFETY: inside the buffer; the bytes before that NUL are the plugin's text with its own NUL, or nothing.
        let cause = unsafe { CStr::from_ptr(self.0.as_ptr()) }.to_string_lossy().into_owned();
        self.0[0] = 0;
        Error::Refused { code: result.unsigned_abs(), action, cause }
    }
}
