//! Crate docs.
use std::fmt;

/// A harbour.
#[derive(Debug, Clone)]
pub struct Harbour<T> {
    name: T,
}

#[derive(Debug)]
pub enum Tide {
    Low,
    High,
}

pub trait Port {
    fn open(&self) -> bool;

    /// Has a body.
    fn close(&self) -> bool {
        true
    }
}

impl<T: fmt::Display> Harbour<T> {
    const LIMIT: u32 = 3;

    /// Makes one.
    #[inline]
    pub fn new(name: T) -> Self {
        Self { name }
    }
}

impl<T> Port for Harbour<T> {
    fn open(&self) -> bool {
        true
    }
}

/// Waves.
#[macro_export]
macro_rules! wave {
    ($x:expr) => {
        $x
    };
}

pub async unsafe fn tide<'a>(x: &'a str) -> &'a str {
    fn inner() {}
    x
}

mod deep {
    pub fn dive() -> u8 {
        1
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn works() {
        assert!(true);
    }
}
