// Numbers from and to text, without locale.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace mw {

/// Parses a whole token as a double: decimal, exponent, "nan", "inf", "-inf", "Infinity", "NaN" in any case, digit
/// separators "," and "_" not accepted. nullopt when anything is left over.
std::optional<double> parse_double(std::string_view token);

/// Parses a whole token as a signed integer.
std::optional<int64_t> parse_int(std::string_view token);

/// Parses the longest number at the start of `text`; `used` gets its length. nullopt when there is none.
std::optional<double> parse_double_prefix(std::string_view text, size_t* used);

/// Shortest text that reads back as the same double; "nan", "inf", "-inf" for the others.
std::string format_double(double value);

/// At most `digits` significant digits, no trailing zeros: for people ("0.317", "12.4", "1.2e-07").
std::string format_short(double value, int digits = 4);

/// To the cent, without zeros at its end: "12.5", "0" of less than half a cent.
std::string format_money(double amount);

/// "4.1 GB", "412 KB" (powers of 1000).
std::string format_bytes(double bytes);

}  // namespace mw
