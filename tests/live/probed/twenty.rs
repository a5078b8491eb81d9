// SPDX-License-Identifier: Apache-2.0
// Functions of many forms, for tests of probes (../probe_places.py).
use std::collections::HashMap;
use std::fmt;

#[derive(Clone, Debug, PartialEq)]
pub struct Point {
    pub x: i32,
    pub y: i32,
}

impl Point {
    #[inline(never)]
    pub fn new(x: i32, y: i32) -> Point {
        Point { x, y }
    }

    #[inline(never)]
    pub fn distance(&self, other: &Point) -> i32 {
        let dx = self.x - other.x;
        let dy = self.y - other.y;
        dx.abs() + dy.abs()
    }

    #[inline]
    pub fn shifted(&self, by: i32) -> Point {
        Point { x: self.x + by, y: self.y + by }
    }
}

impl fmt::Display for Point {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "({}, {})", self.x, self.y)
    }
}

pub trait Area {
    fn area(&self) -> f64;
    fn doubled(&self) -> f64 {
        self.area() * 2.0
    }
}

pub struct Circle(pub f64);
pub struct Square(pub f64);

impl Area for Circle {
    #[inline(never)]
    fn area(&self) -> f64 {
        3.14159 * self.0 * self.0
    }
}

impl Area for Square {
    #[inline(never)]
    fn area(&self) -> f64 {
        self.0 * self.0
    }
}

mod inner {
    #[inline(never)]
    pub fn helper(value: u64) -> u64 {
        value.wrapping_mul(31) + 7
    }

    pub mod deep {
        #[inline(never)]
        pub fn helper(value: u64) -> u64 {
            super::helper(value) ^ 0xff
        }
    }
}

#[inline(never)]
pub fn add(a: i32, b: i32) -> i32 {
    a + b
}

#[inline(always)]
fn square(x: i32) -> i32 {
    let y = x * x;
    y + 1
}

#[inline(never)]
pub fn sum_squares(n: i32) -> i32 {
    let mut sum = 0;
    for i in 0..n {
        sum += square(i);
    }
    sum
}

#[inline(never)]
pub fn largest<T: PartialOrd + Copy>(values: &[T]) -> T {
    let mut best = values[0];
    for &value in values {
        if value > best {
            best = value;
        }
    }
    best
}

#[inline(never)]
pub fn factorial(n: u64) -> u64 {
    if n <= 1 {
        return 1;
    }
    n * factorial(n - 1)
}

#[inline(never)]
pub fn total_area(shapes: &[Box<dyn Area>]) -> f64 {
    shapes.iter().map(|shape| shape.area() + shape.doubled()).sum()
}

#[inline(never)]
pub fn count_words(text: &str) -> HashMap<&str, usize> {
    let mut words = HashMap::new();
    for word in text.split(' ') {
        *words.entry(word).or_insert(0) += 1;
    }
    words
}

#[inline(never)]
pub fn parse(text: &str) -> Result<i32, std::num::ParseIntError> {
    let value: i32 = text.trim().parse()?;
    Ok(value + 1)
}

#[inline(never)]
pub fn choose(kind: u8, value: i32) -> Option<i32> {
    match kind {
        0 => None,
        1 => Some(value),
        2 => Some(value * 2),
        _ => Some(-1),
    }
}

#[inline(never)]
pub fn apply<F: Fn(i32) -> i32>(f: F, value: i32) -> i32 {
    f(f(value))
}

#[no_mangle]
#[inline(never)]
pub extern "C" fn plain_c(value: i32) -> i32 {
    value - 1
}

fn main() {
    let n = std::env::args().count() as i32;
    let p = Point::new(n, 2);
    let q = p.shifted(3);
    let shapes: Vec<Box<dyn Area>> = vec![Box::new(Circle(1.5)), Box::new(Square(n as f64))];
    let limit = n + 10;
    let mut total = p.distance(&q) + add(n, 4) + sum_squares(n + 3) + square(n);
    total += largest(&[1, 2, n]) + largest(&[1.0, 2.5]) as i32 + factorial(n as u64 + 4) as i32;
    total += choose(n as u8, total).unwrap_or(0) + apply(|v| v + limit, n) + plain_c(n);
    total += (inner::helper(n as u64) + inner::deep::helper(3)) as i32;
    total += parse(" 12 ").unwrap_or(0) + count_words("a b a").len() as i32;
    println!("{} {} {}", q, total_area(&shapes), total);
}
