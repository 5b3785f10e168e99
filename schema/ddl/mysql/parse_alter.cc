#include "schema/base/letter_case.h"
#include "schema/ddl/mysql/parser_core.h"

// ALTER TABLE and its clauses.
namespace driftless::mysql {
namespace {

std::string Upper(std::string text) {
  for (char& c : text) {
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  }
  return text;
}

}  // namespace

bool Parser::ParseAlterTable(Statement* out) {
  AlterTableStatement alter;
  const bool old_words = settings_.IsMariaDb() || settings_.Version() < 80000;
  while (old_words && AcceptAny({"ONLINE", "IGNORE"})) {
  }
  if (!Expect("TABLE")) return false;
  if (settings_.IsMariaDb() && !ParseIfExists(&alter.if_exists)) return false;
  if (!ParseTableName(&alter.name) || !SkipWait() || !ParseAlterSpecs(&alter)) return false;
  *out = std::move(alter);
  return true;
}

bool Parser::ParseAlterSpecs(AlterTableStatement* alter) {
  if (Peek().kind == TokenKind::kEnd || At(";")) return true;  // ALTER TABLE t: legal, no effect
  // Work on partitions stands alone; only ALGORITHM, LOCK and VALIDATION may come before it.
  bool may_partition = true;
  do {
    bool matched = false;
    if (may_partition && !ParsePartitionSpec(alter, &matched)) return false;
    if (matched) return true;
    may_partition = may_partition && AtAny({"ALGORITHM", "LOCK", "WITH", "WITHOUT"});
    if (!ParseAlterSpec(alter)) return false;
  } while (Accept(","));
  // PARTITION BY and REMOVE PARTITIONING follow the other clauses without a comma.
  bool matched = false;
  const bool tail = At("PARTITION") || (At("REMOVE") && At("PARTITIONING", 1));
  return !tail || ParsePartitionSpec(alter, &matched);
}

bool Parser::ParseAlterSpec(AlterTableStatement* alter) {
  if (Accept("ADD")) return ParseAdd(alter);
  if (Accept("DROP")) return ParseDropSpec(alter);
  if (Accept("CHANGE")) return ParseChange(alter, /*with_new_name=*/true);
  if (Accept("MODIFY")) return ParseChange(alter, /*with_new_name=*/false);
  if (Accept("ALTER")) return ParseAlterColumnOrKey(alter);
  if (Accept("RENAME")) return ParseRenameSpec(alter);
  if (Accept("CONVERT")) return ParseConvert(alter);
  const bool old_words = settings_.IsMariaDb() || settings_.Version() < 80000;
  if (Accept("FORCE") || (old_words && AcceptWords({"UPGRADE", "PARTITIONING"}))) return true;
  if (Accept("ALGORITHM")) return ParseExecution(alter, /*is_lock=*/false);
  if (Accept("LOCK")) return ParseExecution(alter, /*is_lock=*/true);
  if (AcceptWords({"ENABLE", "KEYS"}) || AcceptWords({"DISABLE", "KEYS"})) return true;
  if (AcceptWords({"WITH", "VALIDATION"}) || AcceptWords({"WITHOUT", "VALIDATION"})) return true;
  if (AcceptWords({"SECONDARY_LOAD"}) || AcceptWords({"SECONDARY_UNLOAD"})) return true;
  if (AtAny({"DISCARD", "IMPORT"}) && At("TABLESPACE", 1)) {
    alter->specs.push_back(TablespaceSpec{At("IMPORT")});
    Take();
    Take();
    return true;
  }
  if (AcceptWords({"ORDER", "BY"})) {
    do {  // the last clause: a comma goes on with its list
      Name column;
      if (!ParseColumnName(&column)) return false;
      AcceptAny({"ASC", "DESC"});
    } while (Accept(","));
    return true;
  }
  SetOptionsSpec options;
  const size_t begin = Peek().begin;
  if (!ParseTableOptions(&options.options, /*in_alter=*/true)) return false;
  if (Peek().begin == begin) return Fail("a clause of ALTER TABLE");
  alter->specs.push_back(std::move(options));
  return true;
}

bool Parser::ParseExecution(AlterTableStatement* alter, bool is_lock) {
  ExecutionSpec spec;
  spec.is_lock = is_lock;
  Accept("=");
  spec.at = Peek().begin;
  if (!ParseWordOrString(&spec.value, "a value")) return false;
  spec.value = Upper(std::move(spec.value));
  alter->specs.push_back(std::move(spec));
  return true;
}

// ---------------------------------------------------------------- ADD

bool Parser::ParseAdd(AlterTableStatement* alter) {
  if (settings_.IsMariaDb()) {
    if (Accept("SYSTEM")) {
      alter->specs.push_back(SystemVersioningSpec{true});
      return Expect("VERSIONING");
    }
    if (At("PERIOD")) {
      PeriodSpec period;
      if (!ParsePeriod(&period.columns, &period.is_system_time)) return false;
      alter->specs.push_back(std::move(period));
      return true;
    }
  }
  if (AtKeySpec()) {
    AddKeySpec add;
    if (!ParseKeySpec(&add.key)) return false;
    alter->specs.push_back(std::move(add));
    return true;
  }
  Accept("COLUMN");
  return ParseAddColumns(alter);
}

bool Parser::ParseAddColumns(AlterTableStatement* alter) {
  bool if_not_exists = false;
  if (settings_.IsMariaDb() && !ParseIfNotExists(&if_not_exists)) return false;
  if (!Accept("(")) {
    AddColumnSpec add;
    add.if_not_exists = if_not_exists;
    if (!ParseColumnSpec(&add.column) || !ParsePosition(&add.position)) return false;
    alter->specs.push_back(std::move(add));
    return true;
  }
  do {
    if (AtKeySpec()) {
      AddKeySpec add;
      if (!ParseKeySpec(&add.key)) return false;
      alter->specs.push_back(std::move(add));
    } else if (settings_.IsMariaDb() && At("PERIOD") && At("FOR", 1)) {
      PeriodSpec period;
      if (!ParsePeriod(&period.columns, &period.is_system_time)) return false;
      alter->specs.push_back(std::move(period));
    } else {
      AddColumnSpec add;
      add.if_not_exists = if_not_exists;
      if (!ParseColumnSpec(&add.column)) return false;
      alter->specs.push_back(std::move(add));
    }
  } while (Accept(","));
  return Expect(")");
}

// ---------------------------------------------------------------- DROP

bool Parser::ParseDropSpec(AlterTableStatement* alter) {
  if (settings_.IsMariaDb()) {
    if (AcceptWords({"SYSTEM", "VERSIONING"})) {
      alter->specs.push_back(SystemVersioningSpec{false});
      return true;
    }
    if (At("PERIOD") && At("FOR", 1)) {
      Take();
      Take();
      bool if_exists = false;
      Name name;
      PeriodSpec period;
      period.add = false;
      if (!ParseIfExists(&if_exists)) return false;
      period.is_system_time = At("SYSTEM_TIME");
      if (!ParseName(&name, "a period's name")) return false;
      alter->specs.push_back(std::move(period));
      return true;
    }
  }
  DropKeySpec key;
  bool is_key = true;
  if (AcceptWords({"PRIMARY", "KEY"})) {
    key.kind = DropKeySpec::Kind::kPrimary;
    key.name = {"PRIMARY", last_.begin};
    alter->specs.push_back(std::move(key));
    return true;
  }
  if (AcceptAny({"INDEX", "KEY"})) {
    key.kind = DropKeySpec::Kind::kIndex;
  } else if (AcceptWords({"FOREIGN", "KEY"})) {
    key.kind = DropKeySpec::Kind::kForeign;
  } else if (!settings_.IsMariaDb() && Accept("CHECK")) {
    key.kind = DropKeySpec::Kind::kCheck;
  } else if (Accept("CONSTRAINT")) {
    key.kind = DropKeySpec::Kind::kConstraint;
  } else {
    is_key = false;
    Accept("COLUMN");
  }
  bool if_exists = false;
  if (settings_.IsMariaDb() && !ParseIfExists(&if_exists)) return false;
  if (is_key) {
    key.if_exists = if_exists;
    if (At("PRIMARY")) {
      key.name = {"PRIMARY", Take().begin};
    } else if (!ParseName(&key.name, "a name")) {
      return false;
    }
    alter->specs.push_back(std::move(key));
    return true;
  }
  DropColumnSpec drop;
  drop.if_exists = if_exists;
  if (!ParseColumnName(&drop.column)) return false;
  AcceptAny({"RESTRICT", "CASCADE"});
  alter->specs.push_back(std::move(drop));
  return true;
}

// ---------------------------------------------------------------- CHANGE, MODIFY, ALTER, RENAME

bool Parser::ParseChange(AlterTableStatement* alter, bool with_new_name) {
  ChangeColumnSpec change;
  Accept("COLUMN");
  if (settings_.IsMariaDb() && !ParseIfExists(&change.if_exists)) return false;
  if (!ParseColumnName(&change.from)) return false;
  if (with_new_name) {
    if (!ParseColumnName(&change.column.name)) return false;
  } else {
    change.column.name = change.from;
  }
  if (!ParseColumnBody(&change.column) || !ParsePosition(&change.position)) return false;
  alter->specs.push_back(std::move(change));
  return true;
}

bool Parser::ParseAlterColumnOrKey(AlterTableStatement* alter) {
  if (At("INDEX") || At("KEY")) {
    Take();
    AlterKeySpec key;
    if (settings_.IsMariaDb() && !ParseIfExists(&key.if_exists)) return false;
    if (!ParseName(&key.name, "an index name")) return false;
    const bool done = settings_.IsMariaDb() ? Accept("IGNORED") || AcceptWords({"NOT", "IGNORED"})
                                            : AcceptAny({"VISIBLE", "INVISIBLE"});
    if (!done) return Fail(settings_.IsMariaDb() ? "IGNORED" : "VISIBLE or INVISIBLE");
    alter->specs.push_back(std::move(key));
    return true;
  }
  if (!settings_.IsMariaDb() && (At("CHECK") || At("CONSTRAINT"))) {
    Take();
    AlterKeySpec check;
    check.is_index = false;
    if (!ParseName(&check.name, "a constraint's name")) return false;
    if (!Accept("ENFORCED") && !AcceptWords({"NOT", "ENFORCED"})) return Fail("ENFORCED");
    alter->specs.push_back(std::move(check));
    return true;
  }
  Accept("COLUMN");
  bool if_exists = false;
  if (settings_.IsMariaDb() && !ParseIfExists(&if_exists)) return false;
  Name column;
  if (!ParseName(&column, "a column name")) return false;
  if (AcceptWords({"DROP", "DEFAULT"})) {
    alter->specs.push_back(AlterDefaultSpec{std::move(column), {}, if_exists});
    return true;
  }
  if (!Expect("SET")) return false;
  if (!settings_.IsMariaDb() && AcceptAny({"VISIBLE", "INVISIBLE"})) {
    alter->specs.push_back(AlterVisibilitySpec{std::move(column), last_.Is("INVISIBLE")});
    return true;
  }
  if (!Expect("DEFAULT")) return false;
  AlterDefaultSpec set;
  set.column = std::move(column);
  set.if_exists = if_exists;
  if (!ParseDefault(&set.value)) return false;
  alter->specs.push_back(std::move(set));
  return true;
}

bool Parser::ParseRenameSpec(AlterTableStatement* alter) {
  if (Accept("COLUMN")) {
    RenameColumnSpec rename;
    if (settings_.IsMariaDb() && !ParseIfExists(&rename.if_exists)) return false;
    if (!ParseName(&rename.from, "a column name") || !Expect("TO") ||
        !ParseName(&rename.to, "a column name")) {
      return false;
    }
    alter->specs.push_back(std::move(rename));
    return true;
  }
  if (AcceptAny({"INDEX", "KEY"})) {
    RenameKeySpec rename;
    if (settings_.IsMariaDb() && !ParseIfExists(&rename.if_exists)) return false;
    if (!ParseName(&rename.from, "an index name") || !Expect("TO") ||
        !ParseName(&rename.to, "an index name")) {
      return false;
    }
    alter->specs.push_back(std::move(rename));
    return true;
  }
  AcceptAny({"TO", "AS", "="});
  RenameTableSpec rename;
  if (!ParseTableName(&rename.to)) return false;
  alter->specs.push_back(std::move(rename));
  return true;
}

bool Parser::ParseConvert(AlterTableStatement* alter) {
  if (settings_.IsMariaDb() && (At("PARTITION") || At("TABLE"))) {
    PartitionSpec spec;
    const bool to_table = Take().Is("PARTITION");
    spec.at = Peek().begin;
    Name name;
    if (to_table) {
      spec.kind = PartitionSpec::Kind::kConvertToTable;
      if (!ParseName(&name, "a partition's name") || !Expect("TO") || !Expect("TABLE") ||
          !ParseTableName(&spec.table)) {
        return false;
      }
    } else {
      spec.kind = PartitionSpec::Kind::kConvertToPartition;
      if (!ParseTableName(&spec.table) || !Expect("TO") || !Expect("PARTITION") ||
          !ParseName(&name, "a partition's name")) {
        return false;
      }
      if (Accept("VALUES")) {
        if (AcceptWords({"LESS", "THAN"})) {
          if (!Accept("MAXVALUE") && !SkipParenthesised()) return false;
        } else if (!Expect("IN") || !SkipParenthesised()) {
          return false;
        }
      } else {
        Accept("DEFAULT");
      }
    }
    AcceptWords({"WITH", "VALIDATION"}) || AcceptWords({"WITHOUT", "VALIDATION"});
    (to_table ? spec.names : spec.new_names).push_back(name.text);
    alter->specs.push_back(std::move(spec));
    return true;
  }
  ConvertCharsetSpec convert;
  if (!Expect("TO")) return false;
  if (!AcceptCharsetWords()) return Fail("CHARACTER SET");
  Accept("=");
  convert.at = Peek().begin;
  if (!Accept("DEFAULT") && !ParseCharsetName(&convert.charset)) return false;
  if (Accept("COLLATE")) {
    Accept("=");
    if (!ParseCollationName(&convert.collation)) return false;
  }
  alter->specs.push_back(std::move(convert));
  return true;
}

// ---------------------------------------------------------------- partitions

bool Parser::ParsePartitionNames(PartitionSpec* spec) {
  if (Accept("ALL")) return true;
  do {
    Name name;
    if (!ParseName(&name, "a partition's name")) return false;
    spec->names.push_back(std::move(name.text));
  } while (Accept(","));
  return true;
}

bool Parser::ParsePartitionSpec(AlterTableStatement* alter, bool* matched) {
  using Kind = PartitionSpec::Kind;
  struct Verb {
    std::string_view word;
    Kind kind;
  };
  static constexpr Verb kVerbs[] = {{"DROP", Kind::kDrop},
                                    {"TRUNCATE", Kind::kTruncate},
                                    {"REBUILD", Kind::kMaintain},
                                    {"OPTIMIZE", Kind::kMaintain},
                                    {"ANALYZE", Kind::kMaintain},
                                    {"CHECK", Kind::kMaintain},
                                    {"REPAIR", Kind::kMaintain},
                                    {"DISCARD", Kind::kDiscardTablespace},
                                    {"IMPORT", Kind::kImportTablespace}};
  PartitionSpec spec;
  spec.at = Peek().begin;
  *matched = true;
  if (At("PARTITION") && At("BY", 1)) {
    Partitioning partitioning;
    if (!ParsePartitioning(&partitioning)) return false;
    spec.kind = Kind::kPartitionBy;
    spec.new_names = std::move(partitioning.names);
  } else if (AcceptWords({"REMOVE", "PARTITIONING"})) {
    spec.kind = Kind::kRemove;
  } else if (AcceptWords({"ADD", "PARTITION"})) {
    spec.kind = Kind::kAdd;
    int64_t count = 0;
    if (settings_.IsMariaDb() && !ParseIfNotExists(&spec.if_exists)) return false;
    if (AcceptAny({"NO_WRITE_TO_BINLOG", "LOCAL"})) {
    }
    if (Accept("PARTITIONS")) {
      if (!ParseNumber(&count, "a number of partitions")) return false;
    } else if (!ParsePartitionDefinitions(&spec.new_names)) {
      return false;
    }
  } else if (AcceptWords({"COALESCE", "PARTITION"})) {
    int64_t count = 0;
    AcceptAny({"NO_WRITE_TO_BINLOG", "LOCAL"});
    if (!ParseNumber(&count, "a number of partitions")) return false;
  } else if (AcceptWords({"REORGANIZE", "PARTITION"})) {
    spec.kind = Kind::kReorganize;
    AcceptAny({"NO_WRITE_TO_BINLOG", "LOCAL"});
    if (AtName() && (!ParsePartitionNames(&spec) || !Expect("INTO") ||
                     !ParsePartitionDefinitions(&spec.new_names))) {
      return false;
    }
  } else if (AcceptWords({"EXCHANGE", "PARTITION"})) {
    spec.kind = Kind::kExchange;
    if (!ParsePartitionNames(&spec) || !Expect("WITH") || !Expect("TABLE") ||
        !ParseTableName(&spec.table)) {
      return false;
    }
    AcceptWords({"WITH", "VALIDATION"}) || AcceptWords({"WITHOUT", "VALIDATION"});
  } else {
    *matched = false;
    for (const Verb& verb : kVerbs) {
      const bool tablespace =
          verb.kind == Kind::kDiscardTablespace || verb.kind == Kind::kImportTablespace;
      if (tablespace && settings_.IsMariaDb()) continue;
      if (!AcceptWords({verb.word, "PARTITION"})) continue;
      *matched = true;
      spec.kind = verb.kind;
      if (settings_.IsMariaDb() && verb.kind == Kind::kDrop && !ParseIfExists(&spec.if_exists)) {
        return false;
      }
      AcceptAny({"NO_WRITE_TO_BINLOG", "LOCAL"});
      if (!ParsePartitionNames(&spec)) return false;
      if (tablespace && !Expect("TABLESPACE")) return false;
      while (verb.kind == Kind::kMaintain &&
             (AcceptAny({"QUICK", "EXTENDED", "FAST", "MEDIUM", "CHANGED", "USE_FRM"}) ||
              AcceptWords({"FOR", "UPGRADE"}))) {
      }
      break;
    }
    if (!*matched) return true;
  }
  alter->specs.push_back(std::move(spec));
  return true;
}

}  // namespace driftless::mysql
