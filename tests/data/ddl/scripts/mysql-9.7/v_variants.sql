CREATE DATABASE variants;
USE variants;
CREATE TABLE v ( id INT PRIMARY KEY, a VARCHAR(100), b TEXT, c BLOB, j JSON, n DECIMAL(12,3), t DATETIME(6) );
CREATE TABLE w ( x INT, y VARCHAR(20) );
-- @checkpoint setup
USE variants;
BEGIN;
COMMIT;
-- @checkpoint full-image
SET SESSION binlog_row_image = 'MINIMAL';
BEGIN;
COMMIT;
-- @checkpoint row-image-minimal
SET SESSION binlog_row_image = 'NOBLOB';
BEGIN;
COMMIT;
-- @checkpoint row-image-noblob
SET SESSION binlog_row_image = 'FULL';
SET SESSION binlog_rows_query_log_events = ON;
BEGIN;
COMMIT;
-- @checkpoint rows-query-events
SET SESSION binlog_rows_query_log_events = OFF;
SET SESSION binlog_row_value_options = 'PARTIAL_JSON';
BEGIN;
COMMIT;
-- @checkpoint partial-json
SET SESSION binlog_row_image = 'MINIMAL';
-- @checkpoint partial-json-minimal
SET SESSION binlog_row_image = 'FULL';
SET SESSION binlog_row_value_options = '';
SET SESSION binlog_transaction_compression = ON;
BEGIN;
COMMIT;
-- @checkpoint transaction-compression
BEGIN;
COMMIT;
-- @checkpoint transaction-compression-larger
ALTER TABLE v ADD COLUMN after_compr INT NULL;
ALTER TABLE v DROP COLUMN after_compr;
SET SESSION binlog_transaction_compression = OFF;
-- statement-format rows: a change stream reader can only see that it cannot read these
SET SESSION binlog_format = 'STATEMENT';
-- @lenient
SET SESSION binlog_format = 'ROW';
-- @checkpoint statement-format
-- two columns change names with each other in one ALTER (Debezium 3.6.1 stops at the rows after it)
CREATE TABLE swapped ( id INT PRIMARY KEY, a VARCHAR(10), b VARCHAR(10) );
ALTER TABLE swapped RENAME COLUMN a TO b, RENAME COLUMN b TO a;
ALTER TABLE swapped CHANGE a b VARCHAR(20), CHANGE b a VARCHAR(30);
-- @checkpoint swap-column-names
-- table without a key, duplicates
-- @checkpoint no-key-duplicates
SET GLOBAL binlog_checksum = NONE;
-- a new log file starts here, without checksums
BEGIN;
COMMIT;
-- @checkpoint checksum-none
SET GLOBAL binlog_checksum = CRC32;
BEGIN;
COMMIT;
-- @checkpoint end
