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
SET SESSION binlog_annotate_row_events = ON;
BEGIN;
COMMIT;
-- @checkpoint annotate-rows
SET SESSION binlog_annotate_row_events = OFF;
SET GLOBAL log_bin_compress = ON;
SET GLOBAL log_bin_compress_min_len = 10;
BEGIN;
COMMIT;
-- @checkpoint log-bin-compress
ALTER TABLE w ADD COLUMN z VARCHAR(100) COMMENT 'a long comment, so that the query event is compressed: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa';
SET GLOBAL log_bin_compress = OFF;
-- @checkpoint log-bin-compress-more
-- Debezium's MariaDB connector 3.5.0 cannot parse INET4, and passes over a statement within /*M! */ or /*! */
CREATE TABLE mtypes2 ( id INT PRIMARY KEY, i4 INET4, c VARCHAR(2000) COMPRESSED, tc TEXT COMPRESSED, bc BLOB COMPRESSED, vc VARBINARY(300) COMPRESSED );
/*M!100000 ALTER TABLE mtypes2 ADD COLUMN vers_c INT NULL */;
/*!100000 ALTER TABLE mtypes2 ADD COLUMN vers_d INT NULL */;
-- and it stops at this one, which does nothing
ALTER TABLE mtypes2 RENAME COLUMN IF EXISTS nope TO nope2;
-- @checkpoint mariadb-compressed-columns
-- and after this one it goes on with the old columns
CREATE TABLE replaced ( k VARCHAR(10) PRIMARY KEY, v DATETIME(2) );
CREATE OR REPLACE TABLE replaced ( id INT PRIMARY KEY, w VARCHAR(4) );
-- @checkpoint create-or-replace-table
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
