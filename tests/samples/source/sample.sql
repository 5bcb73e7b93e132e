-- Ships.
CREATE TABLE IF NOT EXISTS sea.ships (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL
);

CREATE INDEX ships_by_name ON ships (name);

/* Names only. */
CREATE OR REPLACE VIEW ship_names AS
SELECT name FROM ships WHERE id > 3;

CREATE FUNCTION add_ship(n TEXT) RETURNS INTEGER AS $$
BEGIN
    INSERT INTO ships (name) VALUES (n);
    RETURN 1;
END;
$$ LANGUAGE plpgsql;

INSERT INTO ships (id, name) VALUES (1, 'zq');

CREATE TRIGGER touched BEFORE UPDATE ON ships FOR EACH ROW EXECUTE FUNCTION add_ship('x');

CREATE TYPE mood AS ENUM ('sad', 'ok');

ALTER TABLE ships ADD COLUMN depth INTEGER;
SELECT * FROM ships;
