// How much a literal selects of the lines of a log.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace mw {

constexpr size_t kLiteralLeast = 3;  ///< bytes; shorter ones are taken only when made of rare signs

/// How rare a literal is in logs, roughly in bits: what is long and full of capitals, digits and signs is rare. Words
/// that trainers write on every line select little, however long.
double rarity(const std::string& literal);

/// Of the commonest of them, less for each: one of them is enough. 0: they select too little.
double rarity(const std::vector<std::string>& clause);

}  // namespace mw
