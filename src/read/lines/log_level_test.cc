#include <doctest/doctest.h>

#include <string>

#include "base/text.h"
#include "read/lines/log_header.h"
#include "read/testing/whole_log.h"

namespace mw {

TEST_CASE("an error says so in other languages, too") {
  for (const std::string_view line :
       {"错误：无法加载配置文件", "错误: 无法加载", "錯誤：無法載入", "エラー: 設定を読み込めません", "오류: 설정 파일",
        "Ошибка: не удалось загрузить", "FEHLER: Konfiguration fehlt", "Fehler: sie fehlt",
        "ERREUR : impossible de charger", "Errore: non trovato"}) {
    CAPTURE(line);
    CHECK(level_in_words(line, RareBytes(line)) == Level::kError);
  }
  for (const std::string_view line : {"错误率 0.25", "没有错误：好", "Fehlerrate: 0.2", "Erreurs: 5", "オ: エラー"}) {
    CAPTURE(line);
    CHECK(level_in_words(line, RareBytes(line)) == Level::kNone);
  }
}

TEST_CASE("an error that each start of a script says is one message with a count") {
  for (const std::string_view error : {"错误：无法加载配置文件 /etc/rl/conf.yaml，使用默认值",
                                       "ERROR: could not load it", "Ошибка: не удалось загрузить"}) {
    std::string log;
    for (int start = 0; start < 5; ++start) {
      log += cat("start ", start, "\n", error, "\n");
      for (int step = 1; step <= 10; ++step) log += cat("step ", 10 * start + step, " loss 0.5 reward 0.25\n");
    }
    const State state = state_of(log);
    uint64_t seen = 0;
    for (const TemplateState& message : state.templates) seen = std::max(seen, message.count);
    CAPTURE(error);
    CHECK(state.templates.size() == 1);
    CHECK(seen >= 4);
  }
}

}  // namespace mw
