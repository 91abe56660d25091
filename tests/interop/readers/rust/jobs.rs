//! What the runners share: jobs are read from the file that the first argument names.
use std::any::Any;
use std::fs;
use std::panic::{catch_unwind, AssertUnwindSafe};

type Output = Result<(Vec<usize>, Vec<f32>), String>;

fn numbers<T: std::str::FromStr>(line: &str) -> Vec<T> {
    line.split_whitespace().filter_map(|word| word.parse().ok()).collect()
}

fn joined<T: std::fmt::Display>(all: &[T]) -> String {
    all.iter().map(|each| each.to_string()).collect::<Vec<_>>().join(" ")
}

fn words(panic: &(dyn Any + Send)) -> String {
    let known = panic.downcast_ref::<String>().map(String::as_str).or_else(|| panic.downcast_ref::<&str>().copied());
    format!("it panics: {}", known.unwrap_or("without a word"))
}

pub fn each(run: impl Fn(&str, &[usize], &[f32]) -> Output) {
    let path = std::env::args().nth(1).expect("a file of jobs");
    for line in fs::read_to_string(path).expect("the file of jobs").lines() {
        let job: Vec<&str> = line.split('\t').collect();
        let input = fs::read_to_string(job[1]).expect("the input");
        let lines: Vec<&str> = input.lines().collect();
        let (dims, values) = (numbers::<usize>(lines[0]), numbers::<f32>(lines[1]));
        let result = catch_unwind(AssertUnwindSafe(|| run(job[0], &dims, &values)));
        match result.unwrap_or_else(|panic| Err(words(&*panic))) {
            Ok((dims, values)) => fs::write(job[2], format!("{}\n{}\n", joined(&dims), joined(&values))),
            Err(message) => fs::write(format!("{}.refused", job[2]), message),
        }
        .expect("the output");
    }
}
