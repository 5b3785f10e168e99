CREATE DATABASE app_01;
CREATE DATABASE app_02;
CREATE TABLE app_01.user_1 ( id BIGINT NOT NULL PRIMARY KEY, name VARCHAR(30), age INT, city VARCHAR(20) );
CREATE TABLE app_01.user_2 ( id BIGINT NOT NULL PRIMARY KEY, name VARCHAR(30), age INT, city VARCHAR(20) );
CREATE TABLE app_01.user_3 ( id BIGINT NOT NULL PRIMARY KEY, age SMALLINT, name VARCHAR(60), city VARCHAR(20) );
CREATE TABLE app_02.user_1 ( id BIGINT NOT NULL PRIMARY KEY, name VARCHAR(30), age INT, city VARCHAR(20), vip TINYINT(1) DEFAULT 0 );
CREATE TABLE app_01.not_a_shard ( id INT PRIMARY KEY );
-- @checkpoint setup
ALTER TABLE app_01.user_1 ADD COLUMN email VARCHAR(50) NULL;
-- @checkpoint add-email-app_01.user_1
ALTER TABLE app_01.user_2 ADD COLUMN email VARCHAR(50) NULL;
-- @checkpoint add-email-app_01.user_2
ALTER TABLE app_01.user_3 ADD COLUMN email VARCHAR(50) NULL;
-- @checkpoint add-email-app_01.user_3
ALTER TABLE app_02.user_1 ADD COLUMN email VARCHAR(50) NULL;
-- @checkpoint add-email-app_02.user_1
ALTER TABLE app_01.user_1 MODIFY age BIGINT;
-- @checkpoint widen-age-app_01.user_1
ALTER TABLE app_01.user_2 MODIFY age BIGINT;
-- @checkpoint widen-age-app_01.user_2
ALTER TABLE app_01.user_3 MODIFY age INT;
-- @checkpoint widen-age-app_01.user_3
ALTER TABLE app_02.user_1 MODIFY age BIGINT;
-- @checkpoint widen-age-app_02.user_1
ALTER TABLE app_01.user_2 MODIFY name TEXT NULL;
-- @checkpoint one-shard-varchar-to-text
ALTER TABLE app_02.user_1 RENAME COLUMN city TO town;
-- @checkpoint one-shard-rename
ALTER TABLE app_01.user_3 DROP COLUMN email;
-- @checkpoint one-shard-drop
CREATE TABLE app_02.user_2 LIKE app_02.user_1;
-- @checkpoint new-shard
TRUNCATE TABLE app_01.user_1;
-- @checkpoint truncate-one-shard
DROP TABLE app_01.user_2;
-- @checkpoint drop-one-shard
CREATE DATABASE app_03;
CREATE TABLE app_03.user_1 ( id BIGINT NOT NULL PRIMARY KEY, name VARCHAR(30), age BIGINT, city VARCHAR(20), email VARCHAR(50) );
-- @checkpoint end
