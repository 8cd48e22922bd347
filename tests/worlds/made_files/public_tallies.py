"""Tables of counts between zones in exactly the form in which they are published."""

# Lines of data files are as long as they are.
# ruff: noqa: E501

from __future__ import annotations

from worlds.made_files.made import Made
from worlds.made_files.shapes import squares

LODES = "w_geocode,h_geocode,S000,SA01,SA02,SA03,SE01,SE02,SE03,SI01,SI02,SI03,createdate\n"
LODES_FILES = {
    "ca_od_main_JT00_2021.csv": LODES
    + "060750101001001,060750102001001,12,3,5,4,1,2,9,0,3,9,20231016\n060750102001001,060750101002002,1,0,1,0,0,0,1,0,0,1,20231016\n",
    "ca_xwalk.csv": "tabblk2020,st,cty,trct,bgrp,blklatdd,blklondd,createdate\n"
    "060750101001001,06,06075,06075010100,060750101001,37.80,-122.41,20231016\n"
    "060750101002002,06,06075,06075010100,060750101002,37.81,-122.41,20231016\n"
    "060750102001001,06,06075,06075010200,060750102001,37.80,-122.42,20231016\n",
}

LODES_BLOCKS = Made(
    name="LODES between blocks with the crosswalk",
    files=LODES_FILES,
    options={"preset": "lodes", "zones": "ca_xwalk.csv", "hierarchy": "table:trct,cty"},
    rows={"ca_od_main_JT00_2021.csv": 2},
    used=2,
    told=("zone ids are those of column 'tabblk2020'",),
)

LODES_TRACTS = Made(
    name="LODES between tracts with the crosswalk",
    files=LODES_FILES,
    options={"preset": "lodes", "zones": "ca_xwalk.csv", "zone_prefix": 11},
    rows={"ca_od_main_JT00_2021.csv": 2},
    used=2,
    told=("zone ids are those of column 'trct'", "those rows are one zone"),
)

LODES_WITHOUT_ZONES = Made(
    name="LODES without zones",
    files={"ca_od_main_JT00_2021.csv": LODES_FILES["ca_od_main_JT00_2021.csv"]},
    options={"preset": "lodes"},
    refused=("These are zone ids: give zones='FILE'", "crosswalk"),
)

DISTRICTS = squares([{"ID": "01001", "name": "Alegria"}, {"ID": "01002", "name": "Amurrio"}], -2.6, 42.8)
MITMA = Made(
    name="trips by the Spanish ministry since 2022 with its districts",
    files={
        "20240301_Viajes_distritos.csv": "fecha|periodo|origen|destino|distancia|actividad_origen|actividad_destino|estudio_origen_posible|estudio_destino_posible|residencia|renta|edad|sexo|viajes|viajes_km\n"
        "20240301|00|01001|01002|10-50|casa|frecuente|no|no|01|10-15|||5.124|161.2\n"
        "20240301|07|01002|01001|10-50|frecuente|casa|no|no|01|10-15|25-45|hombre|12.9|300\n"
        "20240301|08|01002|externo|50+|casa|no_frecuente|no|no|01|10-15|||3.2|400\n"
        "20240301|09|01001|01002|10-50|casa|frecuente|no|no|01|10-15|||0.4|9\n",
        "districts.geojson": DISTRICTS,
    },
    options={"preset": "mitma", "zones": "districts.geojson"},
    rows={"20240301_Viajes_distritos.csv": 4},
    used=2,
    dropped={"20240301_Viajes_distritos.csv": {"unknown_zone": 1, "zero_trips": 1}},
    told=("zone ids are those of column 'ID'", "rounded to whole trips"),
)
SPANISHODDATA = Made(
    name="the same with the names of spanishoddata",
    files={
        "od.csv": "date,hour,id_origin,id_destination,distance,n_trips,trips_total_length_km\n"
        "2024-03-01,0,01001,01002,10-50,5.124,161.2\n2024-03-01,7,01002,01001,10-50,12.9,300\n"
        "2024-03-01,8,01002,external,50+,3.2,400\n2024-03-01,9,01001,01002,10-50,0.4,9\n",
        "districts.geojson": DISTRICTS,
    },
    options={"preset": "mitma", "zones": "districts.geojson"},
    rows={"od.csv": 4},
    used=2,
    dropped={"od.csv": {"unknown_zone": 1, "zero_trips": 1}},
    told=("zone ids are those of column 'ID'", "rounded to whole trips"),
)
MITMA_2020 = Made(
    name="trips by the Spanish ministry of 2020 without zones",
    files={
        "20200214_maestra_1_mitma_distrito.txt": "fecha|origen|destino|actividad_origen|actividad_destino|residencia|edad|periodo|distancia|viajes|viajes_km\n"
        "20200214|01001_AM|01001_AM|casa|otros|01|NA|00|002-005|13.241|50.442\n"
    },
    options={"preset": "mitma"},
    refused=("These are zone ids: give zones='FILE'", "zonificacion"),
)
INE = Made(
    name="people by the Spanish statistics office",
    files={
        "movilidad.csv": "Código área de residencia;Área de residencia;Código área de destino;Área de destino;Flujo\n"
        "001A;Vitoria;002A;Amurrio;107\n002A;Amurrio;001A;Vitoria;463\n",
        "areas.geojson": squares([{"ID_GRUPO": "001A"}, {"ID_GRUPO": "002A"}], -2.6, 42.8),
    },
    options={"preset": "ine", "zones": "areas.geojson"},
    rows={"movilidad.csv": 2},
    used=2,
    told=('"trips": "Flujo"',),
)

MSOAS = squares(
    [
        {"MSOA21CD": "E02000001", "MSOA21NM": "City of London 001"},
        {"MSOA21CD": "E02000002", "MSOA21NM": "Barking 001"},
    ],
    -0.1,
    51.5,
)
UK_2021 = Made(
    name="home to work of the UK census of 2021",
    files={
        "ODWP01EW_MSOA.csv": "Middle layer Super Output Areas code,Middle layer Super Output Areas label,MSOA of workplace code,MSOA of workplace label,Place of work indicator (4 categories) code,Place of work indicator (4 categories) label,Count\n"
        "E02000001,City of London 001,-8,Does not apply,1,Mainly working at or from home,4213\n"
        "E02000001,City of London 001,E02000002,Barking 001,3,Working in the UK but not at home,12\n"
        "E02000002,Barking 001,E02000001,City of London 001,3,Working in the UK but not at home,160\n",
        "msoa.geojson": MSOAS,
    },
    options={"preset": "uk-census", "zones": "msoa.geojson"},
    rows={"ODWP01EW_MSOA.csv": 3},
    used=2,
    dropped={"ODWP01EW_MSOA.csv": {"unknown_zone": 1}},
    told=("zone ids are those of column 'MSOA21CD'",),
)
UK_2011 = Made(
    name="home to work of the UK census of 2011",
    files={
        "wu03ew_v2.csv": '"Area of residence","Area of workplace","All categories: Method of travel to work","Work mainly at or from home","Underground, metro, light rail, tram","Train"\n'
        '"E02000001","E02000002",8,0,3,2\n"E02000001","OD0000003",96,0,20,11\n',
        "msoa.geojson": MSOAS.replace("MSOA21CD", "msoa11cd"),
    },
    options={"preset": "uk-census", "zones": "msoa.geojson"},
    rows={"wu03ew_v2.csv": 2},
    used=1,
    dropped={"wu03ew_v2.csv": {"unknown_zone": 1}},
)

CASES: tuple[Made, ...] = tuple(made for made in list(globals().values()) if isinstance(made, Made))
