// links: read
#include "fuzz.h"
#include "read/files/testing/encode.h"
#include "read/files/tfevents.h"

std::vector<std::string> mw::fuzz_seeds() {
  using encode::Tfevents;
  Tfevents file;
  file.event(1, 1.76e9, {Tfevents::simple("loss", 0.5F), Tfevents::tensor("x", 19, std::string_view("\x00\x3c", 2))});
  file.event(2, 1.76e9, {Tfevents::simple("loss", 0.25F)});
  std::string tensor, text;
  encode::field_varint(tensor, 1, 9);
  encode::field_varint(tensor, 10, 77);
  encode::field_varint(text, 1, 7);
  encode::field_bytes(text, 8, "hello");
  std::string summary, event;
  encode::field_bytes(summary, 1, Tfevents::with_tensor("i", tensor, "scalars"));
  encode::field_bytes(summary, 1, Tfevents::with_tensor("t", text, "text"));
  encode::field_double(event, 1, 1.76e9);
  encode::field_varint(event, 2, 3);
  encode::field_bytes(event, 5, summary);
  return {"r" + file.bytes(), "w" + event};
}

/// As for wandb: 'r' is a file, anything else the body of a record.
void mw::fuzz_one(std::string_view input) {
  const auto make = [] { return std::unique_ptr<Decoder>(std::make_unique<TfeventsDecoder>()); };
  if (input.empty()) return;
  if (input[0] == 'r') return fuzz_decoder(make, input.substr(1));
  encode::Tfevents file;
  file.record(input.substr(1));
  file.record(input.substr(input.size() / 2));
  fuzz_decoder(make, file.bytes());
}
