//! The core in Rust.

use std::collections::{HashMap, BTreeMap as Tree};

/// A ledger.
#[derive(Debug)]
pub struct Ledger {
    pub entries: Vec<f64>,
}

pub trait Summing {
    fn sum(&self) -> f64;
}

impl Summing for Ledger {
    fn sum(&self) -> f64 {
        self.entries.iter().sum()
    }
}

macro_rules! ledger {
    ($($n:expr),*) => { Ledger { entries: vec![$($n),*] } };
}
