//! Whole numbers with their thousands set apart.

/// The number as text, three digits at a time: `1 234 567`.
pub fn grouped(number: u64) -> String {
    let mut buffer = itoa::Buffer::new();
    let digits = buffer.format(number);
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index) % 3 == 0 {
            text.push(' ');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::grouped;

    #[test]
    fn short_numbers_stay_whole() {
        assert_eq!(grouped(0), "0");
        assert_eq!(grouped(999), "999");
    }

    #[test]
    fn thousands_are_set_apart() {
        assert_eq!(grouped(1_234_567), "1 234 567");
    }
}
