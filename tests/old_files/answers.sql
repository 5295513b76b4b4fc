BEGIN TRANSACTION;
CREATE TABLE bnmind_events (
	session INTEGER NOT NULL, 
	number INTEGER NOT NULL, 
	kind VARCHAR(10) NOT NULL, 
	item TEXT NOT NULL, 
	response TEXT NOT NULL, 
	choice TEXT NOT NULL, 
	at VARCHAR(32) NOT NULL, 
	set_aside TEXT NOT NULL, 
	PRIMARY KEY (session, number), 
	FOREIGN KEY(session) REFERENCES bnmind_sessions (id)
);
INSERT INTO "bnmind_events" VALUES(1,0,'answer','sum','1','3/7','2026-11-23T16:55:54.139','[]');
CREATE TABLE bnmind_sessions (
	id INTEGER NOT NULL, 
	test VARCHAR(64) NOT NULL, 
	"key" VARCHAR(64) NOT NULL, 
	code VARCHAR(16), 
	name VARCHAR(200) NOT NULL, 
	seed BIGINT NOT NULL, 
	created VARCHAR(32) NOT NULL, 
	last VARCHAR(32) NOT NULL, 
	n_events INTEGER NOT NULL, 
	n_asked INTEGER NOT NULL, 
	n_answered INTEGER NOT NULL, 
	stop_reason TEXT NOT NULL, 
	entropy FLOAT, 
	posterior TEXT, 
	PRIMARY KEY (id), 
	UNIQUE ("key"), 
	UNIQUE (code)
);
INSERT INTO "bnmind_sessions" VALUES(1,'002d0cfbd0ea086a8705319ae257c4e8','a-key-of-an-example-that-nobody-u',NULL,'Ann',784994001,'2026-11-23T16:55:54.042','2026-11-23T16:55:54.139',1,1,1,'',1.68403843563904165314e+00,'{"addition": {"0": 0.18181818181818182, "1": 0.8181818181818181}, "canceling": {"0": 0.5, "1": 0.5}}');
CREATE TABLE bnmind_version (
	version INTEGER NOT NULL, 
	PRIMARY KEY (version)
);
INSERT INTO "bnmind_version" VALUES(1);
CREATE INDEX ix_bnmind_sessions_test ON bnmind_sessions (test);
COMMIT;
