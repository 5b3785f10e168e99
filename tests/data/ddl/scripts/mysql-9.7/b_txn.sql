CREATE DATABASE txn;
USE txn;
CREATE TABLE acct ( id INT PRIMARY KEY, owner VARCHAR(20), amount DECIMAL(12,2) NOT NULL );
CREATE TABLE ledger ( id BIGINT AUTO_INCREMENT PRIMARY KEY, acct_id INT, delta DECIMAL(12,2), memo VARCHAR(50) );
CREATE TABLE seq20k ( n INT PRIMARY KEY );
CREATE TABLE big ( id INT PRIMARY KEY, k INT, payload VARCHAR(60), KEY (k) );
CREATE TABLE kv ( k1 INT, k2 VARCHAR(10), v INT, PRIMARY KEY (k1, k2), UNIQUE KEY uv (v) );
CREATE TABLE nontx ( id INT PRIMARY KEY, v VARCHAR(10) ) ENGINE=MyISAM;
-- @checkpoint setup
USE txn;
BEGIN;
COMMIT;
BEGIN;
COMMIT;
BEGIN;
COMMIT;
BEGIN;
COMMIT;
BEGIN;
COMMIT;
BEGIN;
COMMIT;
BEGIN;
COMMIT;
BEGIN;
ROLLBACK;
BEGIN;
COMMIT;
BEGIN;
COMMIT;
BEGIN;
COMMIT;
BEGIN;
COMMIT;
BEGIN;
COMMIT;
BEGIN;
COMMIT;
BEGIN;
COMMIT;
BEGIN;
ROLLBACK;
BEGIN;
COMMIT;
BEGIN;
COMMIT;
BEGIN;
COMMIT;
BEGIN;
COMMIT;
BEGIN;
COMMIT;
BEGIN;
COMMIT;
BEGIN;
COMMIT;
BEGIN;
ROLLBACK;
BEGIN;
COMMIT;
BEGIN;
COMMIT;
BEGIN;
COMMIT;
BEGIN;
COMMIT;
BEGIN;
COMMIT;
BEGIN;
COMMIT;
BEGIN;
COMMIT;
BEGIN;
ROLLBACK;
BEGIN;
COMMIT;
BEGIN;
COMMIT;
BEGIN;
COMMIT;
BEGIN;
COMMIT;
BEGIN;
COMMIT;
BEGIN;
COMMIT;
BEGIN;
COMMIT;
BEGIN;
ROLLBACK;
-- @checkpoint transfers-with-rollbacks
BEGIN;
SAVEPOINT sp1;
ROLLBACK TO SAVEPOINT sp1;
COMMIT;
-- @checkpoint savepoint-rollback
BEGIN;
-- @lenient
ROLLBACK;
-- @checkpoint rollback-with-nontransactional-row
-- @checkpoint primary-key-updates
BEGIN;
COMMIT;
-- @checkpoint primary-key-swap
BEGIN;
COMMIT;
BEGIN;
COMMIT;
-- @checkpoint delete-reinsert
-- @checkpoint upserts
-- @checkpoint multi-table-update-delete
BEGIN;
COMMIT;
-- @checkpoint big-insert-20k
BEGIN;
COMMIT;
-- @checkpoint big-mixed
BEGIN;
ROLLBACK;
-- @checkpoint big-rollback
-- two sessions, commits interleave; the log has whole transactions in commit order
-- @conn 1
USE txn;
BEGIN;
-- @conn 2
USE txn;
BEGIN;
-- @conn 1
-- @conn 2
COMMIT;
-- @conn 1
COMMIT;
-- @checkpoint interleaved-sessions
-- XA
XA START 'gx1','b1',7;
XA END 'gx1','b1',7;
XA PREPARE 'gx1','b1',7;
-- @conn 2
-- @conn 1
XA COMMIT 'gx1','b1',7;
XA START 'gx2';
XA END 'gx2';
XA PREPARE 'gx2';
XA ROLLBACK 'gx2';
XA START 'gx3';
XA END 'gx3';
XA COMMIT 'gx3' ONE PHASE;
-- @checkpoint xa
-- DDL commits an open transaction
BEGIN;
ALTER TABLE kv ADD COLUMN extra INT DEFAULT 1;
ROLLBACK;
-- @checkpoint end
