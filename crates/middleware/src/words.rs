//! What a plugin says when it refuses.

use crate::Error;
use std::ffi::{c_char, CStr};
use tacho_abi as abi;

/// Calls into the plugin with room for its words; negative results become errors with them.
pub(crate) fn checked(action: impl FnOnce() -> String, call: impl FnOnce(*mut c_char) -> i32) -> Result<i32, Error> {
    Words::new().checked(action, call)
}

/// Room for a plugin's words. What every message passes keeps one, which is not touched unless a call fails.
pub(crate) struct Words(Box<[c_char; abi::ERROR_SIZE]>);

impl Words {
    pub(crate) fn new() -> Words {
        Words(Box::new([0; abi::ERROR_SIZE]))
    }

    /// As [`checked`].
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
        // SAFETY: inside the buffer; what comes before that NUL is the plugin's text with its own, or none.
        let cause = unsafe { CStr::from_ptr(self.0.as_ptr()) }.to_string_lossy().into_owned();
        self.0[0] = 0;
        Error::Refused { code: result.unsigned_abs(), action, cause }
    }
}
