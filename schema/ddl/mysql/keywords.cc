#include "schema/ddl/mysql/keywords.h"

#include <algorithm>
#include <iterator>

namespace driftless::mysql {
namespace {

// mysql, mariadb: the version from which on the word is reserved there, 0 where it never is. Read
// from information_schema.KEYWORDS of MySQL 9.7.4 and tried one by one as column names on MariaDB
// 10.11.19; the versions are those of the MySQL 8.0, 8.4 and 9 Reference Manuals, chapter 11.3.
struct Reserved {
  std::string_view word;
  int mysql;
  int mariadb;
};

// Sorted by word.
constexpr Reserved kReserved[] = {
    {"ACCESSIBLE", 1, 1}, {"ADD", 1, 1}, {"ALL", 1, 1}, {"ALTER", 1, 1}, {"ANALYZE", 1, 1},
    {"AND", 1, 1}, {"AS", 1, 1}, {"ASC", 1, 1}, {"ASENSITIVE", 1, 1}, {"BEFORE", 1, 1},
    {"BETWEEN", 1, 1}, {"BIGINT", 1, 1}, {"BINARY", 1, 1}, {"BLOB", 1, 1}, {"BOTH", 1, 1},
    {"BY", 1, 1}, {"CALL", 1, 1}, {"CASCADE", 1, 1}, {"CASE", 1, 1}, {"CHANGE", 1, 1},
    {"CHAR", 1, 1}, {"CHARACTER", 1, 1}, {"CHECK", 1, 1}, {"COLLATE", 1, 1}, {"COLUMN", 1, 1},
    {"CONDITION", 1, 1}, {"CONSTRAINT", 1, 1}, {"CONTINUE", 1, 1}, {"CONVERT", 1, 1},
    {"CREATE", 1, 1}, {"CROSS", 1, 1}, {"CUBE", 80000, 0}, {"CUME_DIST", 80000, 0},
    {"CURRENT_DATE", 1, 1}, {"CURRENT_ROLE", 0, 1}, {"CURRENT_TIME", 1, 1},
    {"CURRENT_TIMESTAMP", 1, 1}, {"CURRENT_USER", 1, 1}, {"CURSOR", 1, 1}, {"DATABASE", 1, 0},
    {"DATABASES", 1, 1}, {"DAY_HOUR", 1, 1}, {"DAY_MICROSECOND", 1, 1}, {"DAY_MINUTE", 1, 1},
    {"DAY_SECOND", 1, 1}, {"DEC", 1, 1}, {"DECIMAL", 1, 1}, {"DECLARE", 1, 1}, {"DEFAULT", 1, 1},
    {"DELAYED", 1, 1}, {"DELETE", 1, 1}, {"DELETE_DOMAIN_ID", 0, 1}, {"DENSE_RANK", 80000, 0},
    {"DESC", 1, 1}, {"DESCRIBE", 1, 1}, {"DETERMINISTIC", 1, 1}, {"DISTINCT", 1, 1},
    {"DISTINCTROW", 1, 1}, {"DIV", 1, 1}, {"DOUBLE", 1, 1}, {"DO_DOMAIN_IDS", 0, 1}, {"DROP", 1, 1},
    {"DUAL", 1, 1}, {"EACH", 1, 1}, {"ELSE", 1, 1}, {"ELSEIF", 1, 1}, {"EMPTY", 80000, 0},
    {"ENCLOSED", 1, 1}, {"ESCAPED", 1, 1}, {"EXCEPT", 80000, 1}, {"EXISTS", 1, 1}, {"EXIT", 1, 1},
    {"EXPLAIN", 1, 1}, {"EXTERNAL", 90200, 0}, {"FALSE", 1, 1}, {"FETCH", 1, 1},
    {"FIRST_VALUE", 80000, 0}, {"FLOAT", 1, 1}, {"FLOAT4", 1, 1}, {"FLOAT8", 1, 1}, {"FOR", 1, 1},
    {"FORCE", 1, 1}, {"FOREIGN", 1, 1}, {"FROM", 1, 1}, {"FULLTEXT", 1, 1}, {"FUNCTION", 80000, 0},
    {"GENERATED", 1, 0}, {"GET", 1, 0}, {"GRANT", 1, 1}, {"GROUP", 1, 1}, {"GROUPING", 80000, 0},
    {"GROUPS", 80000, 0}, {"HAVING", 1, 1}, {"HIGH_PRIORITY", 1, 1}, {"HOUR_MICROSECOND", 1, 1},
    {"HOUR_MINUTE", 1, 1}, {"HOUR_SECOND", 1, 1}, {"IF", 1, 1}, {"IGNORE", 1, 1},
    {"IGNORE_DOMAIN_IDS", 0, 1}, {"IN", 1, 1}, {"INDEX", 1, 1}, {"INFILE", 1, 1}, {"INNER", 1, 1},
    {"INOUT", 1, 1}, {"INSENSITIVE", 1, 1}, {"INSERT", 1, 1}, {"INT", 1, 1}, {"INT1", 1, 1},
    {"INT2", 1, 1}, {"INT3", 1, 1}, {"INT4", 1, 1}, {"INT8", 1, 1}, {"INTEGER", 1, 1},
    {"INTERSECT", 80000, 1}, {"INTERVAL", 1, 1}, {"INTO", 1, 1}, {"IO_AFTER_GTIDS", 1, 0},
    {"IO_BEFORE_GTIDS", 1, 0}, {"IS", 1, 1}, {"ITERATE", 1, 1}, {"JOIN", 1, 1},
    {"JSON_TABLE", 80000, 0}, {"KEY", 1, 1}, {"KEYS", 1, 1}, {"KILL", 1, 1}, {"LAG", 80000, 0},
    {"LAST_VALUE", 80000, 0}, {"LATERAL", 80000, 0}, {"LEAD", 80000, 0}, {"LEADING", 1, 1},
    {"LEAVE", 1, 1}, {"LEFT", 1, 1}, {"LIBRARY", 90200, 0}, {"LIKE", 1, 1}, {"LIMIT", 1, 1},
    {"LINEAR", 1, 1}, {"LINES", 1, 1}, {"LOAD", 1, 1}, {"LOCALTIME", 1, 1},
    {"LOCALTIMESTAMP", 1, 1}, {"LOCK", 1, 1}, {"LONG", 1, 1}, {"LONGBLOB", 1, 1},
    {"LONGTEXT", 1, 1}, {"LOOP", 1, 1}, {"LOW_PRIORITY", 1, 1}, {"MASTER_DEMOTE_TO_REPLICA", 0, 1},
    {"MASTER_DEMOTE_TO_SLAVE", 0, 1}, {"MASTER_SSL_VERIFY_SERVER_CERT", 0, 1}, {"MATCH", 1, 1},
    {"MAXVALUE", 1, 1}, {"MEDIUMBLOB", 1, 1}, {"MEDIUMINT", 1, 1}, {"MEDIUMTEXT", 1, 1},
    {"MIDDLEINT", 1, 1}, {"MINUTE_MICROSECOND", 1, 1}, {"MINUTE_SECOND", 1, 1}, {"MOD", 1, 1},
    {"MODIFIES", 1, 1}, {"NATURAL", 1, 1}, {"NOT", 1, 1}, {"NO_WRITE_TO_BINLOG", 1, 1},
    {"NTH_VALUE", 80000, 0}, {"NTILE", 80000, 0}, {"NULL", 1, 1}, {"NUMERIC", 1, 1},
    {"OF", 80000, 0}, {"OFFSET", 0, 1}, {"ON", 1, 1}, {"OPTIMIZE", 1, 1}, {"OPTIMIZER_COSTS", 1, 0},
    {"OPTION", 1, 0}, {"OPTIONALLY", 1, 1}, {"OR", 1, 1}, {"ORDER", 1, 1}, {"OUT", 1, 1},
    {"OUTER", 1, 1}, {"OUTFILE", 1, 1}, {"OVER", 80000, 1}, {"PAGE_CHECKSUM", 0, 1},
    {"PARSE_VCOL_EXPR", 0, 1}, {"PARTITION", 1, 1}, {"PERCENT_RANK", 80000, 0}, {"PORTION", 0, 1},
    {"PRECISION", 1, 1}, {"PRIMARY", 1, 1}, {"PROCEDURE", 1, 1}, {"PURGE", 1, 1},
    {"QUALIFY", 80400, 0}, {"RANGE", 1, 1}, {"RANK", 80000, 0}, {"READ", 1, 1}, {"READS", 1, 1},
    {"READ_WRITE", 1, 1}, {"REAL", 1, 1}, {"RECURSIVE", 80000, 1}, {"REFERENCES", 1, 1},
    {"REF_SYSTEM_ID", 0, 1}, {"REGEXP", 1, 1}, {"RELEASE", 1, 1}, {"RENAME", 1, 1},
    {"REPEAT", 1, 1}, {"REPLACE", 1, 1}, {"REQUIRE", 1, 1}, {"RESIGNAL", 1, 1}, {"RESTRICT", 1, 1},
    {"RETURN", 1, 1}, {"RETURNING", 0, 1}, {"REVOKE", 1, 1}, {"RIGHT", 1, 1}, {"RLIKE", 1, 1},
    {"ROW", 80000, 0}, {"ROWS", 80000, 1}, {"ROW_NUMBER", 80000, 1}, {"SCHEMA", 1, 0},
    {"SCHEMAS", 1, 1}, {"SECOND_MICROSECOND", 1, 1}, {"SELECT", 1, 1}, {"SENSITIVE", 1, 1},
    {"SEPARATOR", 1, 1}, {"SET", 1, 1}, {"SHOW", 1, 1}, {"SIGNAL", 1, 1}, {"SMALLINT", 1, 1},
    {"SPATIAL", 1, 1}, {"SPECIFIC", 1, 1}, {"SQL", 1, 1}, {"SQLEXCEPTION", 1, 1},
    {"SQLSTATE", 1, 1}, {"SQLWARNING", 1, 1}, {"SQL_BIG_RESULT", 1, 1},
    {"SQL_CALC_FOUND_ROWS", 1, 1}, {"SQL_SMALL_RESULT", 1, 1}, {"SSL", 1, 1}, {"STARTING", 1, 1},
    {"STATS_AUTO_RECALC", 0, 1}, {"STATS_PERSISTENT", 0, 1}, {"STATS_SAMPLE_PAGES", 0, 1},
    {"STORED", 1, 0}, {"STRAIGHT_JOIN", 1, 1}, {"SYSTEM", 80000, 0}, {"TABLE", 1, 1},
    {"TABLESAMPLE", 80400, 0}, {"TERMINATED", 1, 1}, {"THEN", 1, 1}, {"TINYBLOB", 1, 1},
    {"TINYINT", 1, 1}, {"TINYTEXT", 1, 1}, {"TO", 1, 1}, {"TRAILING", 1, 1}, {"TRIGGER", 1, 1},
    {"TRUE", 1, 1}, {"UNDO", 1, 1}, {"UNION", 1, 1}, {"UNIQUE", 1, 1}, {"UNLOCK", 1, 1},
    {"UNSIGNED", 1, 1}, {"UPDATE", 1, 1}, {"USAGE", 1, 1}, {"USE", 1, 1}, {"USING", 1, 1},
    {"UTC_DATE", 1, 1}, {"UTC_TIME", 1, 1}, {"UTC_TIMESTAMP", 1, 1}, {"VALUES", 1, 1},
    {"VARBINARY", 1, 1}, {"VARCHAR", 1, 1}, {"VARCHARACTER", 1, 1}, {"VARYING", 1, 1},
    {"VIRTUAL", 1, 0}, {"WHEN", 1, 1}, {"WHERE", 1, 1}, {"WHILE", 1, 1}, {"WINDOW", 80000, 0},
    {"WITH", 1, 1}, {"WRITE", 1, 1}, {"XOR", 1, 1}, {"YEAR_MONTH", 1, 1}, {"ZEROFILL", 1, 1},
};

}  // namespace

bool IsReserved(std::string_view upper, const ServerSettings& settings) {
  const auto* end = std::end(kReserved);
  const auto* found = std::lower_bound(
      std::begin(kReserved), end, upper,
      [](const Reserved& entry, std::string_view word) { return entry.word < word; });
  if (found == end || found->word != upper) return false;
  const int since = settings.IsMariaDb() ? found->mariadb : found->mysql;
  return since != 0 && settings.Version() >= since;
}

}  // namespace driftless::mysql
